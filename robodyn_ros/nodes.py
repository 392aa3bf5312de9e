# SPDX-License-Identifier: Apache-2.0

"""List of the nodes, the only place where each is declared.

Executables (setup.py), the page of nodes (docs/make_nodes.py) and the policy for SROS 2
(docs/make_policy.py) use it. It imports nothing, because setup.py runs this file.
"""

# Module and class of each node in this package, in the order of the documentation.
NODES = {
    "trajectory_planner": "TrajectoryPlanner",
    "inverse_dynamics": "InverseDynamics",
    "joint_commander": "JointCommander",
    "motion_cueing": "MotionCueing",
    "vehicle_flight": "VehicleFlight",
    "condition_monitor": "ConditionMonitor",
    "forward_simulator": "ForwardSimulator",
    "drive_link": "DriveLink",
    "simulated_drives": "SimulatedDrives",
    "state_estimator": "StateEstimator",
    "force_markers": "ForceMarkers",
    "pose_sliders": "PoseSliders",
    "recorder": "Recorder",
    "run_summary": "RunSummary",
    "web_viewer": "WebViewer",
}
# Exit code of run_summary for a run whose status is not "completed".
NOT_COMPLETED = 3
