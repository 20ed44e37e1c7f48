// A lock client for lock-torture, to be copied: put your library where Lock is, and keep the rest. No packages.
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const ifOurs = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('%s', KEYS[1]%s) end return 0"

// Refused: it certainly did not happen. Any other error is a doubt: a command was sent and not answered.
type Refused string

func (reason Refused) Error() string { return string(reason) }

type request struct {
	ID              int
	Op, Key         string
	LeaseMs, WaitMs int64
	Hold            int
	Topology        struct {
		Kind, Password string
		Node           struct {
			Host string
			Port int
		}
	}
	Options struct{ CommandTimeoutMs int64 }
}

// Lock: SET NX PX on one server, and scripts that compare the owner.
type Lock struct {
	address, password string
	timeout           time.Duration
	connection        net.Conn
	answers           *bufio.Reader
}

type hold struct{ key, owner string }

// The answer, and when the command left: the stamp is taken right before it is sent, never after the answer.
func (lock *Lock) command(words ...string) (string, int64, error) {
	if lock.connection == nil {
		connection, err := net.DialTimeout("tcp", lock.address, lock.timeout)
		if err != nil {
			return "", 0, Refused("unreachable: " + err.Error())
		}
		lock.connection, lock.answers = connection, bufio.NewReader(connection)
		if lock.password != "" {
			if _, _, err := lock.command("AUTH", lock.password); err != nil {
				return "", 0, Refused("unreachable: " + err.Error())
			}
		}
	}
	var bytes strings.Builder
	fmt.Fprintf(&bytes, "*%d\r\n", len(words))
	for _, word := range words {
		fmt.Fprintf(&bytes, "$%d\r\n%s\r\n", len(word), word)
	}
	lock.connection.SetDeadline(time.Now().Add(lock.timeout))
	sent := monotonic()
	_, err := lock.connection.Write([]byte(bytes.String()))
	var line string
	if err == nil {
		line, err = lock.answers.ReadString('\n')
	}
	if err != nil {
		lock.connection.Close()
		lock.connection = nil
		return "", sent, fmt.Errorf("reconnect: %w", err)
	}
	if line[0] == '-' {
		return "", sent, Refused(strings.ToLower(strings.Fields(line[1:])[0]))
	}
	return strings.TrimSpace(line[1:]), sent, nil // OK, a number, or -1 for nothing; no command here is answered with more
}

func (lock *Lock) acquire(key string, leaseMs, waitMs int64) (hold, int64, error) {
	owner, until := rand.Text(), time.Now().Add(time.Duration(waitMs)*time.Millisecond)
	for {
		answer, sent, err := lock.command("SET", key, owner, "NX", "PX", fmt.Sprint(leaseMs))
		if err != nil || answer == "OK" {
			return hold{key, owner}, sent, err
		}
		if !time.Now().Before(until) {
			return hold{}, 0, Refused("held")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (lock *Lock) ours(script string, words ...string) (int64, error) {
	answer, sent, err := lock.command(append([]string{"EVAL", script, "1"}, words...)...)
	if err == nil && answer != "1" {
		err = Refused("not-owner")
	}
	return sent, err
}

// The clock that stamps are made with: time.Now() has it too, and does not show it.
func monotonic() int64 {
	var now syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}

var (
	lock  *Lock
	holds = map[int]hold{}
)

func handle(asked request) (value any, err error) {
	held, known := holds[asked.Hold]
	if !known && (asked.Op == "extend" || asked.Op == "release") {
		return nil, Refused("unknown-hold")
	}
	var sent int64
	switch asked.Op {
	case "init":
		node := asked.Topology.Node
		timeout := time.Duration(asked.Options.CommandTimeoutMs) * time.Millisecond
		lock = &Lock{address: fmt.Sprintf("%s:%d", node.Host, node.Port), password: asked.Topology.Password, timeout: timeout}
		_, _, err = lock.command("PING")
		value = map[string]any{"lock": "my-lock", "features": []string{"extend", "clock"}, "topologies": []string{"single", "replica"}}
	case "acquire":
		held, sent, err = lock.acquire(asked.Key, asked.LeaseMs, asked.WaitMs)
		holds[asked.ID] = held
		value = map[string]any{"grantSent": sent}
	case "extend":
		sent, err = lock.ours(fmt.Sprintf(ifOurs, "pexpire", ", ARGV[2]"), held.key, held.owner, fmt.Sprint(asked.LeaseMs))
		value = map[string]any{"sent": sent}
	case "release":
		_, err = lock.ours(fmt.Sprintf(ifOurs, "del", ""), held.key, held.owner)
	case "clock":
		value = map[string]any{"wallMs": time.Now().UnixMilli()}
	default:
		err = Refused("unsupported: " + asked.Op)
	}
	return value, err
}

func main() {
	requests := make(chan request, 100)
	go func() { // ends with its input, also in the middle of a wait
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			var asked request
			if json.Unmarshal(lines.Bytes(), &asked) == nil {
				requests <- asked
			}
		}
		os.Exit(0)
	}()
	for asked := range requests {
		began := monotonic()
		value, err := handle(asked)
		answer := map[string]any{"id": asked.ID, "type": "ok", "began": began, "ended": monotonic()}
		if err != nil {
			answer["type"], answer["reason"] = "info", err.Error()
			if refused := Refused(""); errors.As(err, &refused) || asked.Op == "init" {
				answer["type"] = "fail"
			}
		} else if value != nil {
			answer["value"] = value
		}
		json.NewEncoder(os.Stdout).Encode(answer)
	}
}
