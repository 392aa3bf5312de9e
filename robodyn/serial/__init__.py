"""Serial arms: any open chain of revolute and prismatic joints."""
