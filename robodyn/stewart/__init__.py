"""Stewart platforms: model, kinematics, dynamics."""
