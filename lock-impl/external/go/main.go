// A lock client for lock-torture around lock libraries of Go. The one argument names the library: redsync or redislock.
//
// docs/protocol.md describes what is said on standard input and output; this file is that, `locks.go` the libraries,
// `wire.go` what shows when a command really left and whether it was answered.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

type endpoint struct {
	Host string `json:"host"`
	Port int    `json:"port"`
}

func (e endpoint) address() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

type topology struct {
	Kind       string     `json:"kind"`
	Node       endpoint   `json:"node"`
	Nodes      []endpoint `json:"nodes"`
	Sentinels  []endpoint `json:"sentinels"`
	MasterName string     `json:"masterName"`
	Password   string     `json:"password"`
}

type request struct {
	ID       int      `json:"id"`
	Op       string   `json:"op"`
	Key      string   `json:"key"`
	LeaseMs  float64  `json:"leaseMs"`
	WaitMs   float64  `json:"waitMs"`
	Hold     int      `json:"hold"`
	Topology topology `json:"topology"`
	Options  struct {
		CommandTimeoutMs float64 `json:"commandTimeoutMs"`
	} `json:"options"`
}

type answer struct {
	ID     int            `json:"id"`
	Type   string         `json:"type"`
	Reason string         `json:"reason,omitempty"`
	Began  int64          `json:"began"`
	Ended  int64          `json:"ended"`
	Value  map[string]any `json:"value,omitempty"`
}

type held struct {
	key  string
	hold hold
}

type client struct {
	name   string
	lock   lock
	wire   wire
	quorum bool
	holds  map[int]held
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "name one library: redsync or redislock")
		os.Exit(2)
	}
	requests := make(chan []byte)
	go func() {
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				os.Exit(0) // at once, also in the middle of a wait
			}
			requests <- line
		}
	}()
	redis.SetLogger(toStandardError{})
	self := &client{name: os.Args[1], holds: map[int]held{}}
	for line := range requests {
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		said, _ := json.Marshal(self.handle(asked))
		os.Stdout.Write(append(said, '\n'))
	}
}

// Everything that the library prints goes there; standard output is the protocol's.
type toStandardError struct{}

func (toStandardError) Printf(_ context.Context, format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
}

func (c *client) handle(asked request) answer {
	said := answer{ID: asked.ID, Type: "ok", Began: monotonicNs()}
	switch asked.Op {
	case "init":
		c.init(asked, &said)
	case "acquire":
		c.acquire(asked, &said)
	case "extend", "release":
		c.onHold(asked, &said)
	case "clock":
		said.Value = map[string]any{"wallMs": float64(time.Now().UnixNano()) / 1e6}
	default:
		said.Type, said.Reason = "fail", "unsupported: operation "+asked.Op
	}
	if said.Ended == 0 {
		said.Ended = monotonicNs()
	}
	return said
}

func (c *client) init(asked request, said *answer) {
	made, known := adapters[c.name]
	if !known {
		said.Type, said.Reason = "fail", "lock: there is no library "+c.name
		return
	}
	clients, err := c.connect(asked.Topology, milliseconds(asked.Options.CommandTimeoutMs))
	if err != nil {
		said.Type, said.Reason = "fail", err.Error()
		return
	}
	c.lock = made.make(clients)
	c.quorum = asked.Topology.Kind == "redlock"
	said.Value = map[string]any{
		"lock":       "go/" + c.name,
		"features":   []string{"extend", "clock"},
		"topologies": made.topologies,
	}
}

// connect makes clients with go-redis's own settings (three resends among them) but for the time that a command may take.
func (c *client) connect(where topology, timeout time.Duration) ([]redis.UniversalClient, error) {
	plain := func(address string) *redis.Client {
		return redis.NewClient(&redis.Options{
			Addr: address, Password: where.Password, DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
		})
	}
	var clients []redis.UniversalClient
	switch where.Kind {
	case "single", "replica":
		clients = append(clients, plain(where.Node.address()))
	case "redlock":
		for _, node := range where.Nodes {
			clients = append(clients, plain(node.address()))
		}
	case "sentinel":
		clients = append(clients, redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName: where.MasterName, SentinelAddrs: addresses(where.Sentinels),
			Password: where.Password, SentinelPassword: where.Password,
			DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
		}))
	case "cluster":
		cluster := redis.NewClusterClient(&redis.ClusterOptions{
			Addrs: addresses(where.Nodes), Password: where.Password,
			DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout,
		})
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(&c.wire) })
		clients = append(clients, cluster)
	default:
		return nil, fmt.Errorf("lock: go/%s makes no sense on %s", c.name, where.Kind)
	}
	reached := 0
	var last error
	for _, one := range clients {
		if where.Kind != "cluster" {
			one.AddHook(&c.wire)
		}
		if last = one.Ping(context.Background()).Err(); last == nil {
			reached++
		}
	}
	if reached <= len(clients)/2 {
		return nil, fmt.Errorf("unreachable: %d of %d servers answer: %w", reached, len(clients), last)
	}
	return clients, nil
}

func (c *client) acquire(asked request, said *answer) {
	c.wire.begin(asked.Key)
	said.Began = monotonicNs()
	got, err := c.lock.acquire(asked.Key, milliseconds(asked.LeaseMs), milliseconds(asked.WaitMs))
	said.Ended = monotonicNs()
	sends, doubt := c.wire.seen()
	if err != nil {
		said.Type, said.Reason = c.outcome(err, sends, doubt)
		// Fewer than a majority: what a server that gave no answer did cannot make it one that this client believes in.
		if c.quorum && said.Type == "info" {
			said.Type, said.Reason = "fail", "no-quorum: "+said.Reason
		}
		return
	}
	c.holds[asked.ID] = held{asked.Key, got}
	grantSent := sends[0].atNs
	// After a resend nobody knows which of them was carried out: the earlier time accuses nobody.
	if !doubt {
		grantSent = c.lock.grantSent(sends)
	}
	said.Value = map[string]any{"grantSent": grantSent}
	if valid, says := got.validFor(); says {
		said.Value["validForMs"] = float64(valid.Nanoseconds()) / 1e6
	}
}

func (c *client) onHold(asked request, said *answer) {
	one, known := c.holds[asked.Hold]
	if !known {
		said.Type, said.Reason = "fail", fmt.Sprintf("unknown-hold: %d", asked.Hold)
		return
	}
	c.wire.begin(one.key)
	said.Began = monotonicNs()
	var err error
	if asked.Op == "extend" {
		err = one.hold.extend(milliseconds(asked.LeaseMs))
	} else {
		err = one.hold.release()
	}
	said.Ended = monotonicNs()
	sends, doubt := c.wire.seen()
	if err != nil {
		said.Type, said.Reason = c.outcome(err, sends, doubt)
		return
	}
	if asked.Op == "release" {
		delete(c.holds, asked.Hold)
		return
	}
	said.Value = map[string]any{"sent": sends[0].atNs}
	if valid, says := one.hold.validFor(); says {
		said.Value["validForMs"] = float64(valid.Nanoseconds()) / 1e6
	}
}

// outcome of an operation that did not succeed: `fail` only where it certainly did not happen (README.md has the table).
func (c *client) outcome(err error, sends []sent, doubt bool) (kind, reason string) {
	var fromServer redis.Error
	switch {
	case len(sends) == 0:
		return "fail", "unreachable: " + err.Error()
	case doubt:
		return "info", "reconnect: " + err.Error()
	case errors.Is(err, errHeld), errors.Is(err, errNotOurs):
		return "fail", err.Error()
	case errors.As(err, &fromServer):
		word, _, _ := strings.Cut(fromServer.Error(), " ")
		return "fail", strings.ToLower(word)
	}
	return "info", err.Error()
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func addresses(all []endpoint) []string {
	var list []string
	for _, one := range all {
		list = append(list, one.address())
	}
	return list
}
