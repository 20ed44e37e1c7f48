/** How each runtime gives faults what they need (`RuntimeCapability`): what is really done when a fault says "cut" or "skew". */
import type { RuntimeCapability } from '../vocabulary/host.js';

const TURNS =
  "whose turn it is, between two statements of a client's code or of two requests that come at once, is decided in virtual time only (`hunt`)";
const SYNC_TIME = 'how long a sync of a file takes is decided in virtual time only (`hunt`)';
/** What no runtime has whose clients are processes of a machine. */
export const NOT_IN_REAL_TIME = { turns: TURNS, 'sync-time': SYNC_TIME } as const;

/** What hosts in virtual time do not have, as in "needs ...". */
export const NOT_IN_VIRTUAL_TIME = {
  'slots-at-once': 'a process that a server forks, and talks with while both run (CLUSTER MIGRATESLOTS)',
} as const;

export const provides: Readonly<Record<string, Readonly<Record<RuntimeCapability, string>>>> = {
  netns: {
    process:
      "SIGKILL, SIGSTOP and SIGCONT to the host's process; its state is read back from `/proc/<pid>/stat`. Always there.",
    network:
      "each host is a network namespace with its own routing table: a cut A→B is `ip route add blackhole B` on A, off the network is `ip link set eth0 down`. What A's kernel then has is read back. Nothing outside the run's own namespaces is touched; `iptables` and `tc` are not needed.",
    link: "a program of the project's own (`harness/native/link-shaper.c`) in the host's network namespace: a route to the peer leads packets to it through a TUN device, and it sends them on by a raw socket. Where `/dev/net/tun` cannot be opened it takes a veth pair with a packet socket instead, which needs no device file; the proof of each strike says which. It comes compiled for Linux with glibc; elsewhere it needs a C compiler once. When it ends, the kernel takes device and routes away and the connections live on: of a TUN device at once, of a veth pair within half a second, in which what is sent over it is lost.",
    clock:
      "a preloaded library of the project's own (`harness/native/clock-shim.c`) adds to `clock_gettime(CLOCK_REALTIME)`, `gettimeofday` and `time` what a file of the host says; CLOCK_MONOTONIC is left alone. It comes compiled for Linux with glibc; elsewhere it needs a C compiler once. It does not reach programs that ask the kernel without the C library (Go, static binaries): a fault on these is recorded as failed.",
    disk: "a preloaded library of the project's own (`harness/native/durable-shim.c`) records what each server has synced: sizes, names, and every file under a second name. After a kill the host's folder is rebuilt from that. It comes compiled, as above. Needs a file system with hard links, and a server that is dynamically linked and not setuid; servers are given it only in runs whose faults need it.",
    turns: `never: ${TURNS}.`,
    'sync-time': `never: ${SYNC_TIME}.`,
  },
  docker: {
    process:
      "SIGKILL, SIGSTOP and SIGCONT to the process in its container, never to the container; its state is read back from that container's `/proc/<pid>/stat`. Always there.",
    network:
      'each host is a container with a routing table of its own, and the same commands in it: NET_ADMIN in its own network namespace is the only power that it has (PostgreSQL refuses to be root: its servers have SETUID, SETGID and KILL as well). Needs an engine that grants it.',
    link: "the same program, compiled in the lock clients' image, in a container beside the host's that shares its network namespace and has NET_ADMIN, NET_RAW and `/dev/net/tun`: a TUN device is all that it can have there. It is started when a link of the host is first degraded. Needs an engine that grants these.",
    clock:
      "the same library, compiled in the image against the image's own C library (Debian or Ubuntu), preloaded, and its file in the container. It does not reach programs that ask the kernel without the C library either.",
    disk: "the same library, compiled in the servers' image; the agent rebuilds the folder in the container.",
    turns: 'likewise.',
    'sync-time': 'likewise.',
  },
};
