package main

import (
	"bytes"
	"context"
	"net"
	"sync"
	"syscall"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sys/unix"
)

// monotonicNs is raw CLOCK_MONOTONIC: the clock of the protocol's stamps, which no fault touches.
func monotonicNs() int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

// sent is one command that named the lock's key, as it left.
type sent struct {
	atNs int64
	// A SET: one try of a lock that is taken by SET NX.
	isSet bool
}

// wire sees every byte that the client library sends, its own retries included: it sits between go-redis and the sockets.
type wire struct {
	mutex sync.Mutex
	key   []byte
	sends []sent
	// A connection ended, or a read ran out of time, while a command that named the key was unanswered.
	doubt bool
}

// begin starts an operation on a key; what came before it is forgotten.
func (w *wire) begin(key string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.key, w.sends, w.doubt = []byte(key), nil, false
}

func (w *wire) seen() ([]sent, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]sent(nil), w.sends...), w.doubt
}

func (w *wire) sending(data []byte) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if len(w.key) == 0 || !bytes.Contains(data, w.key) {
		return false
	}
	isSet := bytes.Contains(data[:min(len(data), 20)], []byte("\r\nset\r\n"))
	w.sends = append(w.sends, sent{atNs: monotonicNs(), isSet: isSet})
	return true
}

func (w *wire) broke() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.doubt = true
}

// conn is a connection whose commands are seen.
type conn struct {
	net.Conn
	wire       *wire
	mutex      sync.Mutex
	unanswered bool
}

func (c *conn) Write(data []byte) (int, error) {
	if c.wire.sending(data) {
		c.setUnanswered(true)
	}
	n, err := c.Conn.Write(data)
	if err != nil {
		c.ended()
	}
	return n, err
}

func (c *conn) Read(data []byte) (int, error) {
	n, err := c.Conn.Read(data)
	if err != nil {
		c.ended()
	} else if n > 0 {
		c.setUnanswered(false)
	}
	return n, err
}

func (c *conn) setUnanswered(unanswered bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.unanswered = unanswered
}

func (c *conn) ended() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.unanswered {
		c.wire.broke()
	}
	c.unanswered = false
}

// SyscallConn lets go-redis look whether an idle connection was closed, as it does with connections of its own.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}

// DialHook makes wire a hook of go-redis; it only wraps connections.
func (w *wire) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		inner, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: inner, wire: w}, nil
	}
}

func (w *wire) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (w *wire) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
