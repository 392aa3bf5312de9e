# SPDX-License-Identifier: Apache-2.0

"""Recordings from bags and CSV files: data are read unchanged, errors are reported."""

import numpy as np
import pytest

import robodyn as rd
from robodyn.algorithms import Drives, motions
from robodyn.errors import InvalidInput

RATE = 100.0
# of the messages' clock, not of their receipt
EPOCH, DELAY = 1_700_000_000_000_000_000, 3_000_000


@pytest.fixture(scope="module")
def motion(puma):
    """Four seconds of the six joints: times, positions, velocities and efforts."""
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    rates = 1.0 + 0.3 * np.arange(6)
    q = 0.8 * np.sin(np.outer(t, rates))
    qd = 0.8 * rates * np.cos(np.outer(t, rates))
    effort = 5.0 * np.sin(np.outer(t, rates) + 0.4) + np.arange(1.0, 7.0)
    return t, q, qd, effort


class Bag:
    """Writes joint states to a bag; `order` is that of the joints in the messages."""

    def __init__(self, path, storage="sqlite3"):
        pytest.importorskip("rosbags", reason="the extra `record` is not installed")
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore

        self.path, self._store = path, get_typestore(Stores.ROS2_JAZZY)
        plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
        self.writer = Writer(path, version=9, storage_plugin=plugin)
        self._topics = {}

    def __enter__(self):
        self.writer.open()
        return self

    def __exit__(self, *_):
        self.writer.close()

    def send(self, names, q=(), qd=(), effort=(), *, stamp, received, topic="/joint_states"):
        types = self._store.types
        kind = "sensor_msgs/msg/JointState"
        if topic not in self._topics:
            self._topics[topic] = self.writer.add_connection(topic, kind, typestore=self._store)
        time = types["builtin_interfaces/msg/Time"](*divmod(int(stamp), 1_000_000_000))
        message = types[kind](
            types["std_msgs/msg/Header"](time, ""),
            list(names),
            *(np.array(values, dtype=np.float64, order="C") for values in (q, qd, effort)),
        )
        raw = self._store.serialize_cdr(message, kind)
        self.writer.write(self._topics[topic], int(received), raw)


def stamps(t):
    return EPOCH + np.round(t * 1e9).astype(np.int64)


@pytest.fixture(scope="module", params=["sqlite3", "mcap"])
def whole_bag(request, tmp_path_factory, puma, motion, random_numbers):
    """A bag with the joints in another order, one joint more, and messages out of order."""
    t, q, qd, effort = motion
    rng = random_numbers("whole bag")
    names = np.array([*puma.joint_names, "gripper"])
    order = rng.permutation(7)
    table = [np.column_stack([each, np.full(len(t), 9.0)])[:, order] for each in (q, qd, effort)]
    sent = np.arange(len(t))
    sent[[50, 51]] = [51, 50]
    path = tmp_path_factory.mktemp("bags") / "whole"
    with Bag(path, request.param) as bag:
        for place, row in enumerate(sent):
            bag.send(
                names[order],
                *(each[row] for each in table),
                stamp=stamps(t)[row],
                received=stamps(t)[place] + DELAY,
            )
            if row == 70:
                bag.send(names[order], *(each[row] for each in table), stamp=stamps(t)[row],
                         received=stamps(t)[place] + 2 * DELAY)  # fmt: skip
    return path


def test_a_bag_in_another_order_comes_back_sorted(whole_bag, puma, motion):
    t, q, qd, effort = motion
    read = rd.read_recording(whole_bag, puma)
    assert read.joint_names == puma.joint_names
    np.testing.assert_allclose(read.time, t, atol=1e-9)
    np.testing.assert_array_equal(read.position, q)
    np.testing.assert_array_equal(read.velocity, qd)
    np.testing.assert_array_equal(read.effort, effort)
    assert read.segments == [slice(0, len(t))]
    notes = "\n".join(read.notes)
    assert "gripper" in notes
    assert "1 samples arrived out of order" in notes
    assert "1 samples repeat a stamp" in notes


def test_a_storage_file_and_a_part_of_it(whole_bag, puma, motion):
    t, q, *_ = motion
    file = next(each for each in whole_bag.iterdir() if each.suffix in (".db3", ".mcap"))
    read = rd.read_recording(file, puma, start=1.0, stop=2.5)
    inside = (t >= 1.0) & (t <= 2.5)
    np.testing.assert_allclose(read.time, t[inside], atol=1e-9)
    np.testing.assert_array_equal(read.position, q[inside])


def test_joints_in_messages_of_their_own_with_stamps_of_zero(tmp_path, puma, motion):
    """Positions of each joint alone, efforts at a third of the rate on another topic."""
    t, q, _, effort = motion
    with Bag(tmp_path / "bag") as bag:
        for row, time in enumerate(stamps(t)):
            for joint, name in enumerate(puma.joint_names):
                # half a millisecond apart
                bag.send([f"arm_{name}"], q[row, [joint]], stamp=0, received=time + 500_000 * joint)
            if row % 3 == 0:
                bag.send(
                    puma.joint_names, effort=effort[row], stamp=0, received=time, topic="/torques"
                )
    read = rd.read_recording(tmp_path / "bag", puma)
    notes = "\n".join(read.notes)
    for words in ("zero: the times of receipt are used", "/torques", "arm_joint1", "33.33 Hz"):
        assert words in notes
    assert read.velocity is None
    np.testing.assert_allclose(np.diff(read.time), 3.0 / RATE, atol=1e-9)
    np.testing.assert_array_equal(read.effort, effort[3::3][: len(read.effort)])
    # means over three periods of sines of 2.5 rad/s at most; the first and last are cut short
    rates = 1.0 + 0.3 * np.arange(6)
    expected = 0.8 * np.sin(np.add.outer(read.time + 0.0025, -0.0005 * np.arange(6)) * rates)
    assert np.abs(read.position - expected)[2:-2].max() < 1e-3


def csv(path, puma, t, q, effort, qd=None, field="effort"):
    parts = {"position": q, field: effort} | ({} if qd is None else {"velocity": qd})
    header = ["time", *(f"{j}.{name}" for name in parts for j in puma.joint_names)]
    with path.open("w") as file:
        file.write("# a comment\n" + ",".join(header) + "\n")
        for row in np.column_stack([t, *parts.values()]):
            file.write(",".join("" if np.isnan(x) else repr(float(x)) for x in row) + "\n")
    return path


def test_currents_in_degrees_with_gaps_wraps_and_cut_off_samples(tmp_path, puma, motion):
    t, q, qd, effort = motion
    gain = np.array([10.0, -20.0, 30.0, 5.0, 5.0, 2.0])
    q, current = q.copy(), effort / gain
    q[:, 3] += t * 2.0  # more than a turn
    wrapped = (q + np.pi) % (2.0 * np.pi) - np.pi
    current[200, 2] = np.nan  # bridged
    wrapped[300:310, 1] = np.nan  # a gap
    top = 0.6 * current[:, 5].max() + 0.4 * current[:, 5].min()
    cut = current[:, 5] > top
    current[cut, 5] = top
    path = csv(tmp_path / "r.csv", puma, t, np.degrees(wrapped), current, np.degrees(qd), "current")
    read = rd.read_recording(path, puma, position_unit="deg", effort_gain=gain)
    kept = np.delete(np.arange(len(t)), np.arange(300, 310))
    np.testing.assert_allclose(read.time, t[kept], atol=1e-9)
    np.testing.assert_allclose(read.position, q[kept], atol=1e-12)
    np.testing.assert_allclose(read.velocity, qd[kept], atol=1e-12)
    assert read.segments == [slice(0, 300), slice(300, len(kept))]
    np.testing.assert_array_equal(read.saturated[:, 5], cut[kept])
    assert not read.saturated[:, :5].any()
    np.testing.assert_allclose(read.effort[:, :2], effort[kept][:, :2], atol=1e-12)
    between = 0.5 * (effort[199, 2] + effort[201, 2])
    assert read.effort[200, 2] == pytest.approx(between, abs=1e-9)


def test_efforts_at_the_limit_are_saturated_and_a_held_joint_is_not(puma, motion):
    t, q, _, effort = motion
    q, effort = q.copy(), effort.copy()
    effort[10:20, 0] = puma.effort_limits[0]
    q[100:200, 1], effort[100:200, 1] = q[100, 1], 50.0  # at rest under the largest effort
    read = rd.Recording.from_arrays(puma, t, q, effort)
    assert np.flatnonzero(read.saturated.any(axis=1)).tolist() == list(range(10, 20))


@pytest.mark.parametrize(("name", "n"), [("stewart_symmetric", 6), ("delta", 3)])
def test_configurations_of_what_is_driven_by_its_joints(name, n, tmp_path):
    """Written, read, and brought back to the motion that was recorded."""
    m = rd.load(name)
    t = np.arange(0.0, 1.0, 0.02)
    way = np.zeros((len(t), len(m.coordinates.velocity_names)))
    way[:, 0], way[:, 2] = 0.03 * np.sin(3.0 * t), 0.02 * (1.0 - np.cos(3.0 * t))
    if n == 3:
        lengths = m.joint_positions(m.home) + 0.2 * np.sin(np.outer(t, [1.0, 2.0, 3.0]))
        configurations = motions.motion_of_joints(m, lengths, np.zeros_like(lengths)).configuration
    else:
        configurations = np.array([m.advance(m.home, step) for step in way])
        lengths = m.joint_positions(configurations)
    sent = rd.Recording.from_arrays(m, t, lengths, np.ones((len(t), n)) + t[:, None])
    sent.to_csv(tmp_path / "r.csv")
    read = rd.read_recording(tmp_path / "r.csv", m)
    apart = m.difference(read.configuration(m), configurations)
    assert np.abs(apart).max() < 1e-8


def test_readings_of_legs_are_turned_into_lengths(tmp_path):
    """A URDF may measure a leg backwards and from another zero."""
    m = rd.load("stewart_symmetric")

    class Backwards:
        def __getattr__(self, name):
            return getattr(m, name)

        drives = Drives(
            m,
            np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0]),
            np.array([0.0, 1.5, 0.5, 0.0, 2.0, 0.0]),
        )

    t = np.arange(0.0, 1.0, 0.02)
    lengths = 1.1 + 0.1 * np.sin(np.outer(t, np.arange(1.0, 7.0)))
    readings = Backwards.drives.signs * (lengths - Backwards.drives.offsets)
    path = csv(tmp_path / "r.csv", m, t, 1000.0 * readings, 1.0 + readings)
    read = rd.read_recording(path, Backwards(), position_unit="mm")
    np.testing.assert_allclose(read.position, lengths, atol=1e-12)


def test_a_clock_that_was_set_back_leaves_the_longer_run(tmp_path, puma, motion):
    t, q, _, effort = motion
    with Bag(tmp_path / "bag") as bag:
        for row, time in enumerate([*t[:100], *t]):
            at = row if row < 100 else row - 100
            received = EPOCH + round(row / RATE * 1e9)
            bag.send(puma.joint_names, q[at], (), effort[at], stamp=time * 1e9, received=received)
    read = rd.read_recording(tmp_path / "bag", puma)
    np.testing.assert_array_equal(read.position, q)
    assert any("set back 1 times" in note for note in read.notes)


WRONG = {
    "too short": (lambda t, q, e: (t[:15], q[:15], e[:15]), "too short, 15 samples"),
    "stands still": (lambda t, q, e: (t, q[9] + 1e-5 * q, e), "no joint moves"),
    "no efforts": (lambda t, q, e: (t, q, 0.0 * e), "all efforts are zero"),
    "efforts missing": (lambda t, q, e: (t, q, e + np.nan), "no efforts of joint1"),
    "in degrees": (lambda t, q, e: (t, np.degrees(q), e), "position_unit='deg'"),
    "in milliseconds": (lambda t, q, e: (1000.0 * t, q, e), "divide those in milliseconds"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_read_recording_rejects_unusable_recordings_in_one_line(case, tmp_path, puma, motion):
    spoil, message = WRONG[case]
    t, q, _, effort = motion
    path = csv(tmp_path / "r.csv", puma, *spoil(t, q, effort))
    with pytest.raises(InvalidInput) as refused:
        rd.read_recording(path, puma)
    assert message in str(refused.value)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_other_joints_are_listed_and_can_be_mapped(tmp_path, puma, motion):
    t, q, _, effort = motion

    class Other:
        joint_names = tuple(f"axis{i}" for i in range(6))

    path = csv(tmp_path / "r.csv", Other, t, q, effort)
    with pytest.raises(InvalidInput, match=r"joint1.*joint6.*axis0.*axis5.*`joints`"):
        rd.read_recording(path, puma)
    names = dict(zip(puma.joint_names, Other.joint_names, strict=True))
    np.testing.assert_array_equal(rd.read_recording(path, puma, joints=names).position, q)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n", "no column contains a time"),
        ("time,joint1\n1,2\n", "no column contains a joint's position"),
        ("time,joint1.position\n1,x\n", r"line 2, column 'joint1.position': 'x' is not a number"),
        ("time;joint1.position\n0;1.234,5\n", "the decimal separator must be a point"),
        ("time,joint1.position\n1\n", "line 2 has 1 cells, the header has 2"),
    ],
)
def test_files_that_are_no_recording(text, message, tmp_path, puma):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(InvalidInput, match=message):
        rd.read_recording(tmp_path / "r.csv", puma)


def test_bags_that_are_no_recording(tmp_path, puma):
    pytest.importorskip("rosbags", reason="the extra `record` is not installed")
    with pytest.raises(InvalidInput, match="no such file"):
        rd.read_recording(tmp_path / "nowhere.mcap", puma)
    (tmp_path / "r.mcap").write_bytes(b"not a bag at all")
    with pytest.raises(InvalidInput, match="cannot be read"):
        rd.read_recording(tmp_path / "r.mcap", puma)
    with Bag(tmp_path / "empty"):
        pass
    with pytest.raises(InvalidInput, match="empty"):
        rd.read_recording(tmp_path / "empty", puma)


@pytest.mark.parametrize(
    ("position", "velocity", "effort"),
    [
        ("q{}", "dq{}", "tau{}"),
        ("actual_q_{}", "actual_qd_{}", "actual_current_{}"),
        ("position[{}]", "velocity[{}]", "effort[{}]"),
    ],
)
def test_columns_of_other_programs_are_known(tmp_path, puma, motion, position, velocity, effort):
    """Numbered columns are the joints in their order; commanded positions are not measured ones."""
    t, q, qd, tau = motion
    first = 0 if "_q_" in position or "[" in position else 1
    header, columns = ["timestamp", "target_q_0"], [t, np.zeros_like(t)]
    # the order of columns does not matter
    for values, name in ((tau, effort), (q, position), (qd, velocity)):
        for joint in reversed(range(6)):
            header.append(name.format(joint + first))
            columns.append(values[:, joint])
    path = tmp_path / "r.csv"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=",".join(header), comments="")
    read = rd.read_recording(path, puma)
    np.testing.assert_allclose(read.position, q, atol=1e-12)
    np.testing.assert_allclose(read.velocity, qd, atol=1e-12)
    np.testing.assert_allclose(read.effort, tau, atol=1e-12)
    assert any("by their numbers" in note for note in read.notes)
    assert any("effort_gain" in note for note in read.notes) == ("current" in effort)
    with_gain = rd.read_recording(path, puma, effort_gain=2.0)
    assert not any("effort_gain" in note for note in with_gain.notes)


def test_efforts_in_amperes_are_noted_as_currents(tmp_path, puma, motion):
    t, q, qd, tau = motion
    path = csv(tmp_path / "r.csv", puma, t, q, tau, qd, "effort")
    assert not any("effort_gain" in note for note in rd.read_recording(path, puma).notes)
    path.write_text(path.read_text().replace(".effort", ".effort [A]"))
    assert any("effort_gain" in note for note in rd.read_recording(path, puma).notes)


def test_joints_by_name_with_other_words(tmp_path, puma, motion):
    t, q, _, tau = motion
    names = [f"{name}_{word}" for word in ("pos", "torque") for name in puma.joint_names]
    path, table = tmp_path / "r.csv", np.column_stack([t, q, tau])
    np.savetxt(path, table, delimiter=",", header=",".join(["t", *names]), comments="")
    read = rd.read_recording(path, puma)
    np.testing.assert_allclose(read.effort, tau, atol=1e-12)


def test_a_lost_millisecond_is_no_gap(tmp_path, puma):
    """At 1 kHz five messages may be lost, and nothing that a robot does is."""
    t = np.arange(0.0, 2.0, 1e-3)
    t = np.delete(t, slice(700, 708))
    q = 0.5 * np.sin(np.outer(t, 1.0 + 0.2 * np.arange(6)))
    tau = 1.0 + np.cos(np.outer(t, 1.0 + 0.2 * np.arange(6)))
    read = rd.read_recording(csv(tmp_path / "r.csv", puma, t, q, tau), puma)
    assert len(read.segments) == 1
