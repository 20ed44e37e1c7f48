/*
 * Shapes what a host sends to chosen peers: late, in part, twice, out of order, slowly; and resets connections.
 *
 *   link-shaper NEAR DEVICE SEED       in the host's network namespace
 *
 * It makes a device NEAR: a route to a peer over NEAR brings that peer's packets here. What is due goes on by a raw socket
 * bound to DEVICE, which takes no notice of routes over NEAR. When this process ends, however it ends, the kernel removes
 * NEAR, and with that every route over it: packets go their old way, and connections live on.
 *
 * NEAR is a TUN device of this process: that needs /dev/net/tun, CAP_NET_ADMIN and CAP_NET_RAW in the host's namespaces, and
 * the kernel takes it away while the process ends. Where it cannot be had, NEAR is one end of a veth pair whose other end is
 * in a namespace that only this process is in: that needs CAP_SYS_ADMIN as well, and no device file; the kernel takes the
 * pair away after the process has ended, in its own time, and what is sent over NEAR until then is lost.
 *
 * Says that it is ready, by which device, and whether it runs before ordinary processes (SCHED_FIFO), or what is wrong; then
 * answers each line of standard input with one line of JSON. Ends with standard input.
 *
 *   shape PEER [delay US] [jitter US] [loss PPM] [duplicate PPM] [reorder PPM] [gap US] [rate BYTES_PER_S]
 *       from now on; what is not named is 0. All of them 0: what waits goes at once, the rest as it comes.
 *       jitter: the delay is drawn evenly from delay - jitter to delay + jitter, and keeps the order.
 *       reorder: so many are held back for another gap, and the others overtake them.
 *   drop PEER
 *       what waits for the peer never goes: a socket bound to a device takes no notice of blackhole routes either.
 *   reset PEER LOCAL LOCAL-PORT PEER-PORT
 *       RST to both ends of the connection. Its numbers are those of the next segment that LOCAL sends; to make an idle
 *       one send, it is sent a SYN that no peer would send, which it must answer by an ACK (RFC 5961, 4.2).
 *   reset-on-reply PEER LOCAL-PORT COUNT [numbers]
 *       the next COUNT segments with data from the port to the peer go nowhere, and both ends of their connections get a
 *       RST: what was asked for was carried out, and the answer is lost with the connection. numbers: only of answers that
 *       are one (":1"), as that to DEL is.
 *   show PEER
 *       what is asked of it and what it did; "reset_ports": the peer's ports of the last connections that were reset.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PEERS_MAX 1024
#define RESETS_MAX 256
#define PORTS_MAX 32
#define WAITING_MAX 20000
#define PACKET_BYTES_MAX 65536
#define MILLION 1000000

struct peer {
  uint32_t addr;
  int64_t delay_ns, jitter_ns, gap_ns, rate;
  uint32_t loss, duplicate, reorder; /* ppm */
  int waiting;
  int64_t last_due_ns, rate_free_ns, latest_ns;
  uint16_t reply_port; /* network order */
  int replies, only_numbers;
  uint64_t taken, sent, lost, duplicated, reordered, overflowed, dropped, resets, errors;
  uint16_t ports[PORTS_MAX]; /* of the last resets, a ring */
};

struct packet {
  int64_t due_ns;
  uint64_t order;
  struct peer *peer;
  int len;
  unsigned char data[];
};

/* A connection that is to be reset by the numbers of its next segment. */
struct pending {
  uint32_t peer;
  uint16_t lport, pport;
};

static struct peer peers[PEERS_MAX];
static int peer_count;
static struct pending pending[RESETS_MAX];
static int pending_count;
static struct packet **heap;
static int heap_count, heap_room;
static uint64_t orders;
static int in, out, local; /* what comes from the host; to the device; to the host itself */

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int fail(const char *doing) {
  printf("{\"error\":\"%s: %s\"}\n", doing, strerror(errno));
  fflush(stdout);
  return 1;
}

/* What could not be done, for whoever has another way. */
struct trouble {
  const char *doing;
  int errno_then;
};
static int because(struct trouble *t, const char *doing) {
  *t = (struct trouble){doing, errno};
  return -1;
}

/* splitmix64, by Sebastiano Vigna: any seed will do. */
static uint64_t drawn;
static uint32_t draw(void) {
  uint64_t z = (drawn += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (z ^ (z >> 31)) >> 32;
}
/* Draws only where there is something to decide. */
static int happens(uint32_t ppm) { return ppm && ((uint64_t)draw() * MILLION) >> 32 < ppm; }

/* ------------------------------------------------------------------------------------------------ packets that wait */

static int sooner(const struct packet *a, const struct packet *b) {
  return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->order < b->order);
}

static void push(struct packet *p) {
  int i = heap_count++;
  if (heap_count > heap_room) {
    heap_room = heap_room ? 2 * heap_room : 1024;
    heap = realloc(heap, heap_room * sizeof *heap);
    if (!heap) exit(fail("memory"));
  }
  for (; i && sooner(p, heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = p;
}

static struct packet *pop(void) {
  struct packet *top = heap[0], *p = heap[--heap_count];
  int i = 0;
  for (int c; (c = 2 * i + 1) < heap_count; i = c) {
    if (c + 1 < heap_count && sooner(heap[c + 1], heap[c])) c++;
    if (!sooner(heap[c], p)) break;
    heap[i] = heap[c];
  }
  if (heap_count) heap[i] = p;
  return top;
}

/* ---------------------------------------------------------------------------------------------------------- segments */

struct segment {
  struct iphdr *ip;
  struct tcphdr *tcp;
  int payload;
  const unsigned char *data; /* where there is some */
};

/* False where it is no whole segment of TCP. */
static int segment_of(unsigned char *data, int len, struct segment *s) {
  s->ip = (struct iphdr *)data;
  int head = s->ip->ihl * 4;
  if (s->ip->protocol != IPPROTO_TCP || len < head + 20 || (ntohs(s->ip->frag_off) & (IP_MF | IP_OFFMASK))) return 0;
  s->tcp = (struct tcphdr *)(data + head);
  s->payload = len - head - s->tcp->doff * 4;
  s->data = data + len - s->payload;
  return s->payload >= 0;
}

static void emit(struct peer *p, const unsigned char *data, int len) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = ((const struct iphdr *)data)->daddr};
  if (sendto(out, data, len, 0, (struct sockaddr *)&to, sizeof to) < 0) p->errors++;
  else p->sent++;
}

static uint32_t sum(const void *data, int len, uint32_t s) {
  const uint8_t *b = data;
  for (; len > 1; len -= 2, b += 2) s += b[0] << 8 | b[1];
  while (s >> 16) s = (s & 0xffff) + (s >> 16);
  return s;
}

enum flags { RST, SYN };

/* Sends a bare segment through `by`; addresses and ports in network order. */
static int forge(int by, enum flags flag, uint32_t src, uint32_t dst, uint16_t sport, uint16_t dport, uint32_t seq, uint32_t ack) {
  struct {
    struct iphdr ip;
    struct tcphdr tcp;
  } r = {{.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_TCP}, {{{0}}}};
  r.ip.tot_len = htons(sizeof r), r.ip.frag_off = htons(IP_DF), r.ip.saddr = src, r.ip.daddr = dst;
  r.tcp.source = sport, r.tcp.dest = dport, r.tcp.seq = htonl(seq), r.tcp.doff = 5;
  if (flag == RST) r.tcp.rst = 1, r.tcp.ack = 1, r.tcp.ack_seq = htonl(ack);
  else r.tcp.syn = 1, r.tcp.window = htons(1024);
  r.tcp.check = htons(~sum(&r.tcp, sizeof r.tcp, sum(&r.ip.saddr, 8, IPPROTO_TCP + sizeof r.tcp)));
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = dst};
  return sendto(by, &r, sizeof r, 0, (struct sockaddr *)&to, sizeof to) < 0 ? -1 : 0;
}

/* Takes away what waits for the peer; of one connection only, unless both ports are 0. */
static int drop_waiting(struct peer *p, uint16_t lport, uint16_t pport) {
  int had = heap_count, dropped = 0;
  heap_count = 0;
  /* A packet is put back at or before the place that it was read from. */
  for (int i = 0; i < had; i++) {
    struct packet *k = heap[i];
    struct segment s;
    int is = k->peer == p && ((!lport && !pport) || (segment_of(k->data, k->len, &s) && s.tcp->source == lport && s.tcp->dest == pport));
    if (!is) {
      push(k);
      continue;
    }
    p->waiting--, p->dropped++, dropped++;
    free(k);
  }
  return dropped;
}

/* The segment goes nowhere, and both ends of its connection are told that the other has given up. */
static void reset(struct peer *p, const struct segment *s) {
  const struct iphdr *ip = s->ip;
  const struct tcphdr *tcp = s->tcp;
  uint32_t seq = ntohl(tcp->seq), ack = ntohl(tcp->ack_seq);
  drop_waiting(p, tcp->source, tcp->dest);
  if (forge(out, RST, ip->saddr, ip->daddr, tcp->source, tcp->dest, seq, ack) < 0) p->errors++;
  if (forge(local, RST, ip->daddr, ip->saddr, tcp->dest, tcp->source, ack, seq + s->payload) < 0) p->errors++;
  p->ports[p->resets++ % PORTS_MAX] = ntohs(tcp->dest);
}

static struct peer *peer_of(uint32_t addr) {
  for (int i = 0; i < peer_count; i++)
    if (peers[i].addr == addr) return &peers[i];
  if (peer_count == PEERS_MAX) return NULL;
  peers[peer_count] = (struct peer){.addr = addr};
  return &peers[peer_count++];
}

/* Whether the segment is the one that its connection was to be reset by. */
static int is_pending(const struct segment *s) {
  for (int i = 0; i < pending_count; i++) {
    struct pending *q = &pending[i];
    if (q->peer != s->ip->daddr || q->lport != s->tcp->source || q->pport != s->tcp->dest) continue;
    *q = pending[--pending_count];
    return 1;
  }
  return 0;
}

static void arrive(unsigned char *data, int len) {
  const struct iphdr *ip = (const struct iphdr *)data;
  struct segment s;
  if (len < 20 || ip->version != 4) return;
  struct peer *p = peer_of(ip->daddr);
  if (!p) return;
  p->taken++;
  if ((p->replies || pending_count) && segment_of(data, len, &s) && s.tcp->ack && !s.tcp->rst) {
    int isReply = p->replies && s.payload > 0 && s.tcp->source == p->reply_port && (!p->only_numbers || *s.data == ':');
    if (isReply || is_pending(&s)) {
      if (isReply) p->replies--;
      reset(p, &s);
      return;
    }
  }
  if (happens(p->loss)) {
    p->lost++;
    return;
  }
  int copies = 1 + happens(p->duplicate);
  p->duplicated += copies - 1;
  int64_t t = now_ns();
  while (copies--) {
    if (!p->delay_ns && !p->jitter_ns && !p->rate && !p->reorder && !p->waiting) {
      emit(p, data, len);
      continue;
    }
    if (p->waiting >= WAITING_MAX) {
      p->overflowed++;
      return;
    }
    int64_t due = t;
    if (p->rate) {
      if (p->rate_free_ns < t) p->rate_free_ns = t;
      due = p->rate_free_ns += len * 1000000000LL / p->rate;
    }
    due += p->delay_ns;
    if (p->jitter_ns) due += (int64_t)(((unsigned __int128)draw() * 2 * p->jitter_ns) >> 32) - p->jitter_ns;
    if (due < p->last_due_ns) due = p->last_due_ns; /* jitter keeps the order, as a queue does */
    if (happens(p->reorder)) due += p->gap_ns, p->reordered++;
    else p->last_due_ns = due;
    struct packet *k = malloc(sizeof *k + len);
    if (!k) exit(fail("memory"));
    k->due_ns = due, k->order = orders++, k->peer = p, k->len = len;
    memcpy(k->data, data, len);
    p->waiting++;
    push(k);
  }
}

static void release(void) {
  int64_t t = now_ns();
  while (heap_count && heap[0]->due_ns <= t) {
    struct packet *k = pop();
    if (k->due_ns && t - k->due_ns > k->peer->latest_ns) k->peer->latest_ns = t - k->due_ns;
    k->peer->waiting--;
    emit(k->peer, k->data, k->len);
    free(k);
  }
}

static int take(int most) {
  static unsigned char data[PACKET_BYTES_MAX];
  int taken = 0;
  for (; taken < most; taken++) {
    ssize_t len = read(in, data, sizeof data);
    if (len < 0) break;
    arrive(data, len);
  }
  return taken;
}

/* ---------------------------------------------------------------------------------------------------------- commands */

static int is_clear(const struct peer *p) {
  return !p->delay_ns && !p->jitter_ns && !p->loss && !p->duplicate && !p->reorder && !p->rate;
}

static const char *shape(struct peer *p, char **save) {
  int64_t delay = 0, jitter = 0, loss = 0, duplicate = 0, reorder = 0, gap = 0, rate = 0;
  struct {
    const char *word;
    int64_t *value;
  } known[] = {{"delay", &delay}, {"jitter", &jitter}, {"loss", &loss}, {"duplicate", &duplicate}, {"reorder", &reorder}, {"gap", &gap}, {"rate", &rate}};
  for (char *word; (word = strtok_r(NULL, " ", save));) {
    char *value = strtok_r(NULL, " ", save), *end = NULL;
    unsigned i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].word, word)) i++;
    if (i == sizeof known / sizeof *known || !value) return "shape: an unknown word, or a word without a number";
    *known[i].value = strtoll(value, &end, 10);
    if (*end || *known[i].value < 0) return "shape: not a whole number from 0";
  }
  p->delay_ns = delay * 1000, p->jitter_ns = jitter * 1000, p->gap_ns = gap * 1000, p->rate = rate;
  p->loss = loss, p->duplicate = duplicate, p->reorder = reorder;
  p->rate_free_ns = 0;
  if (is_clear(p)) {
    int n = heap_count;
    /* In their order, and before anything that comes from now on. */
    for (int i = 0; i < n; i++)
      if (heap[i]->peer == p) heap[i]->due_ns = 0;
    heap_count = 0;
    for (int i = 0; i < n; i++) push(heap[i]);
    release();
  }
  p->last_due_ns = 0;
  return NULL;
}

static void show(const struct peer *p) {
  printf("{\"delay_us\":%lld,\"jitter_us\":%lld,\"loss_ppm\":%u,\"duplicate_ppm\":%u,\"reorder_ppm\":%u,\"gap_us\":%lld,\"rate_bytes\":%lld,"
         "\"replies\":%d,\"taken\":%llu,\"sent\":%llu,\"lost\":%llu,\"duplicated\":%llu,\"reordered\":%llu,\"overflowed\":%llu,"
         "\"dropped\":%llu,\"errors\":%llu,\"waiting\":%d,\"latest_us\":%lld,\"resets\":%llu,\"reset_ports\":[",
         (long long)p->delay_ns / 1000, (long long)p->jitter_ns / 1000, p->loss, p->duplicate, p->reorder, (long long)p->gap_ns / 1000,
         (long long)p->rate, p->replies, (unsigned long long)p->taken, (unsigned long long)p->sent, (unsigned long long)p->lost,
         (unsigned long long)p->duplicated, (unsigned long long)p->reordered, (unsigned long long)p->overflowed,
         (unsigned long long)p->dropped, (unsigned long long)p->errors, p->waiting, (long long)p->latest_ns / 1000,
         (unsigned long long)p->resets);
  uint64_t first = p->resets > PORTS_MAX ? p->resets - PORTS_MAX : 0;
  for (uint64_t i = first; i < p->resets; i++) printf("%s%u", i == first ? "" : ",", p->ports[i % PORTS_MAX]);
  printf("]}\n");
}

/* A number is read whole, or the command is refused: -1. */
static int number(char **save, int most) {
  char *word = strtok_r(NULL, " ", save), *end;
  if (!word || !*word) return -1;
  long value = strtol(word, &end, 10);
  return *end || value < 0 || value > most ? -1 : (int)value;
}

static const char *ask_reset(struct peer *p, char **save) {
  struct in_addr own;
  char *address = strtok_r(NULL, " ", save);
  int lport = number(save, 65535), pport = number(save, 65535);
  if (!address || !inet_aton(address, &own) || lport < 0 || pport < 0) return "reset: not an address and two ports";
  if (pending_count == RESETS_MAX) return "reset: too many at once";
  pending[pending_count++] = (struct pending){p->addr, htons(lport), htons(pport)};
  if (forge(local, SYN, p->addr, own.s_addr, htons(pport), htons(lport), draw(), 0) < 0) return "reset: the host cannot be asked";
  return NULL;
}

static const char *ask_on_reply(struct peer *p, char **save) {
  int lport = number(save, 65535), count = number(save, MILLION);
  char *which = strtok_r(NULL, " ", save);
  if (lport < 0 || count < 0) return "reset-on-reply: not a port and a number";
  if (which && strcmp(which, "numbers")) return "reset-on-reply: not a kind of answer";
  p->reply_port = htons(lport), p->replies = count, p->only_numbers = which != NULL;
  return NULL;
}

static void command(char *line) {
  char *save, *word = strtok_r(line, " ", &save), *who = strtok_r(NULL, " ", &save);
  struct in_addr addr;
  const char *wrong = NULL;
  struct peer *p = who && inet_aton(who, &addr) ? peer_of(addr.s_addr) : NULL;
  if (!p) wrong = "not a peer's address";
  else if (!strcmp(word, "shape")) wrong = shape(p, &save);
  else if (!strcmp(word, "drop")) drop_waiting(p, 0, 0);
  else if (!strcmp(word, "reset")) wrong = ask_reset(p, &save);
  else if (!strcmp(word, "reset-on-reply")) wrong = ask_on_reply(p, &save);
  else if (strcmp(word, "show")) wrong = "not a command";
  if (wrong) printf("{\"error\":\"%s\"}\n", wrong);
  else show(p);
  fflush(stdout);
}

/* False at the end of input. */
static int commands(void) {
  static char line[4096];
  static int have;
  ssize_t n = read(0, line + have, sizeof line - 1 - have);
  if (n <= 0) return 0;
  have += n, line[have] = 0;
  for (char *end; (end = strchr(line, '\n'));) {
    *end = 0;
    /* What the host sent before it was told so comes before the command. */
    while (take(64) > 0) {}
    command(line);
    have -= end + 1 - line;
    memmove(line, end + 1, have + 1);
  }
  return have < (int)sizeof line - 1;
}

/* -------------------------------------------------------------------------------------------------------- the device */

struct request {
  struct nlmsghdr head;
  struct ifinfomsg info;
  char attributes[512];
};

static struct rtattr *begin(struct request *r, int type, const void *data, int len) {
  struct rtattr *a = (struct rtattr *)((char *)r + NLMSG_ALIGN(r->head.nlmsg_len));
  a->rta_type = type, a->rta_len = RTA_LENGTH(len);
  if (len) memcpy(RTA_DATA(a), data, len);
  r->head.nlmsg_len = NLMSG_ALIGN(r->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
  return a;
}
static void end(struct request *r, struct rtattr *a) { a->rta_len = (char *)r + r->head.nlmsg_len - (char *)a; }

/* -1 with errno where the kernel refuses it. */
static int tell(int netlink, const struct request *r) {
  struct {
    struct nlmsghdr head;
    struct nlmsgerr error;
  } answer;
  if (send(netlink, r, r->head.nlmsg_len, 0) < 0 || recv(netlink, &answer, sizeof answer, 0) < 0) return -1;
  errno = -answer.error.error;
  return errno ? -1 : 0;
}

/*
 * ip link add NEAR mtu MTU type veth peer name far netns HERE, with the namespace that this process is in by now as
 * HERE and that of the socket as the one of NEAR. -1 with errno.
 */
static int make_pair(int netlink, const char *near, uint32_t mtu) {
  struct request r = {{NLMSG_LENGTH(sizeof r.info), RTM_NEWLINK, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK, 0, 0}, {0}, {0}};
  struct ifinfomsg far = {0};
  int here = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (here < 0) return -1;
  begin(&r, IFLA_IFNAME, near, strlen(near) + 1);
  begin(&r, IFLA_MTU, &mtu, sizeof mtu);
  struct rtattr *link = begin(&r, IFLA_LINKINFO, NULL, 0);
  begin(&r, IFLA_INFO_KIND, "veth", 4);
  struct rtattr *data = begin(&r, IFLA_INFO_DATA, NULL, 0);
  struct rtattr *peer = begin(&r, VETH_INFO_PEER, &far, sizeof far);
  begin(&r, IFLA_IFNAME, "far", 4);
  begin(&r, IFLA_MTU, &mtu, sizeof mtu);
  begin(&r, IFLA_NET_NS_FD, &here, sizeof here);
  end(&r, peer), end(&r, data), end(&r, link);
  int told = tell(netlink, &r), errno_then = errno;
  close(here);
  errno = errno_then;
  return told;
}

/* ip link set NEAR mtu MTU txqueuelen QUEUE. An ioctl for the queue is only for whom is root outside of namespaces, too. */
static int set_room(int netlink, const char *near, uint32_t mtu, uint32_t queue) {
  struct request r = {{NLMSG_LENGTH(sizeof r.info), RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, 0, 0}, {.ifi_index = if_nametoindex(near)}, {0}};
  begin(&r, IFLA_MTU, &mtu, sizeof mtu);
  begin(&r, IFLA_TXQLEN, &queue, sizeof queue);
  return tell(netlink, &r);
}

static int bring_up(int control, const char *device) {
  struct ifreq r = {0};
  snprintf(r.ifr_name, IFNAMSIZ, "%s", device);
  if (ioctl(control, SIOCGIFFLAGS, &r) < 0) return -1;
  r.ifr_flags |= IFF_UP | IFF_NOARP;
  return ioctl(control, SIOCSIFFLAGS, &r);
}

static int set_near(int control, const char *near) {
  struct ifreq r = {0};
  /* Whole segments with their sums: the kernel leaves both to the other end of a veth pair unless it is told not to. */
  struct ethtool_value off[] = {{ETHTOOL_STXCSUM, 0}, {ETHTOOL_STSO, 0}, {ETHTOOL_SGSO, 0}};
  snprintf(r.ifr_name, IFNAMSIZ, "%s", near);
  for (unsigned i = 0; i < sizeof off / sizeof *off; i++) {
    r.ifr_data = (char *)&off[i];
    if (ioctl(control, SIOCETHTOOL, &r) < 0) return -1;
  }
  return bring_up(control, near);
}

/* One end of a pair whose other end is in a namespace of this process's own; `control` stays in the host's. */
static int open_pair(int control, int netlink, const char *near, uint32_t mtu, struct trouble *t) {
  int big = 16 << 20;
  if (unshare(CLONE_NEWNET) < 0) return because(t, "a network namespace of its own");
  if (make_pair(netlink, near, mtu) < 0) return because(t, "a veth pair");
  struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = if_nametoindex("far")};
  if ((in = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0) return because(t, "packet socket");
  if (setsockopt(in, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof big) < 0) setsockopt(in, SOL_SOCKET, SO_RCVBUF, &big, sizeof big);
  if (bind(in, (struct sockaddr *)&at, sizeof at) < 0) return because(t, "packet socket");
  int inside = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (inside < 0 || bring_up(inside, "far") < 0 || set_near(control, near) < 0) return because(t, "the pair does not come up");
  close(inside);
  return 0;
}

/* A device whose packets this process reads; it offers no offloads, so they come as whole segments with their sums. */
static int open_tun(int control, int netlink, const char *near, uint32_t mtu, struct trouble *t) {
  struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_TUN_EXCL};
  if ((in = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK)) < 0) return because(t, "/dev/net/tun");
  snprintf(r.ifr_name, IFNAMSIZ, "%s", near);
  if (ioctl(in, TUNSETIFF, &r) < 0) because(t, "a TUN device");
  else if (set_room(netlink, near, mtu, WAITING_MAX) < 0) because(t, "a TUN device's MTU and queue");
  else if (bring_up(control, near) < 0) because(t, "a TUN device does not come up");
  else return 0;
  close(in);
  return -1;
}

/* The name of the device's kind; NULL when what is wrong has been said. */
static const char *open_all(const char *near, const char *device) {
  int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), big = 16 << 20;
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  struct ifreq real = {0};
  struct trouble tun, pair;
  const char *kind = "tun";
  if (control < 0 || netlink < 0) return fail("socket"), NULL;
  snprintf(real.ifr_name, IFNAMSIZ, "%s", device);
  if (ioctl(control, SIOCGIFMTU, &real) < 0) return fail(device), NULL;
  /* These stay in the host's namespace, whichever this process is in later. */
  if ((out = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)) < 0) return fail("raw socket"), NULL;
  if (setsockopt(out, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device) + 1) < 0) return fail(device), NULL;
  setsockopt(out, SOL_SOCKET, SO_SNDBUF, &big, sizeof big);
  if ((local = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)) < 0) return fail("raw socket"), NULL;
  if (open_tun(control, netlink, near, real.ifr_mtu, &tun) < 0) {
    kind = "veth";
    if (open_pair(control, netlink, near, real.ifr_mtu, &pair) < 0) {
      printf("{\"error\":\"%s: %s; ", tun.doing, strerror(tun.errno_then));
      printf("%s: %s\"}\n", pair.doing, strerror(pair.errno_then));
      fflush(stdout);
      return NULL;
    }
  }
  close(control), close(netlink);
  return kind;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: link-shaper NEAR DEVICE SEED\n");
    return 2;
  }
  drawn = strtoull(argv[3], NULL, 10);
  /* Timers of this process may otherwise be 50 us late so that several expire at once. */
  prctl(PR_SET_TIMERSLACK, 1UL);
  struct sched_param first = {.sched_priority = 1};
  int is_first = sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0;
  const char *kind = open_all(argv[1], argv[2]);
  if (!kind) return 1;
  printf("{\"ready\":true,\"device\":\"%s\",\"first\":%s}\n", kind, is_first ? "true" : "false");
  fflush(stdout);
  for (;;) {
    struct pollfd fds[2] = {{.fd = in, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    struct timespec wait, *within = NULL;
    if (heap_count) {
      int64_t left = heap[0]->due_ns - now_ns();
      if (left < 0) left = 0;
      wait = (struct timespec){left / 1000000000, left % 1000000000}, within = &wait;
    }
    if (ppoll(fds, 2, within, NULL) < 0 && errno != EINTR) return fail("poll");
    release();
    take(64);
    if (fds[1].revents && !commands()) return 0;
  }
}
