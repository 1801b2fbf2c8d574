"""Which file system a path lies on, where the operating system tells (Linux)."""

from __future__ import annotations

from pathlib import Path

NETWORK = frozenset(
    [
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "coda",
        "davfs",
        "fuse.davfs2",
        "fuse.glusterfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "orangefs",
        "smb3",
        "smbfs",
        "vboxsf",
        "vmhgfs",
    ]
)


def network_file_system(folder: Path, mounts: str | None = None) -> str | None:
    """The kind of network file system that holds a folder; None if it is local, or if nothing tells."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mountinfo").read_text()
        except OSError:
            return None
    best, kind = -1, None
    for line in mounts.splitlines():
        # 36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw
        fields = line.split(" ")
        if "-" not in fields[6:] or len(fields) < 9:
            continue
        point = Path(fields[4].encode().decode("unicode_escape"))  # a space is written \040
        if folder.is_relative_to(point) and len(point.parts) >= best:  # a later mount covers an earlier one
            best, kind = len(point.parts), fields[fields.index("-", 6) + 1]
    return kind if kind in NETWORK else None
