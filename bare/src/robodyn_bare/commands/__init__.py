"""The commands of `ros2`, one module each."""
