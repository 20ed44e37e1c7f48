package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	redsyncpool "github.com/go-redsync/redsync/v4/redis"
)

// lock is what an adapter of a library gives. Errors are told apart in `outcome`.
type lock interface {
	// acquire waits for at most `wait`; 0: one try.
	acquire(key string, lease, wait time.Duration) (hold, error)
	// grantSent is when the granted attempt left, from all commands of the acquire that named the key.
	grantSent(sends []sent) int64
}

type hold interface {
	// validFor is how long the library says the grant is good; false: it does not say.
	validFor() (time.Duration, bool)
	extend(lease time.Duration) error
	release() error
}

// errNotOurs: the servers answered that somebody else, or nobody, holds.
var errNotOurs = errors.New("not-owner")

// errHeld: the servers answered that somebody else holds.
var errHeld = errors.New("held")

type adapter struct {
	topologies []string
	make       func(clients []redis.UniversalClient) lock
}

var oneServer = []string{"single", "replica", "sentinel", "cluster"}

var adapters = map[string]adapter{
	"redsync":   {topologies: append([]string{"redlock"}, oneServer...), make: newRedsync},
	"redislock": {topologies: oneServer, make: newRedislock},
}

// ------------------------------------------------------------------------------------------------------------ redsync

type redsyncLock struct{ sync *redsync.Redsync }

func newRedsync(clients []redis.UniversalClient) lock {
	var pools []redsyncpool.Pool
	for _, client := range clients {
		pools = append(pools, goredis.NewPool(client))
	}
	return redsyncLock{redsync.New(pools...)}
}

func (l redsyncLock) acquire(key string, lease, wait time.Duration) (hold, error) {
	// The library's own pauses between tries, for as long as the caller waits.
	mutex := l.sync.NewMutex(key, redsync.WithExpiry(lease), redsync.WithTries(1<<30))
	var err error
	if wait == 0 {
		err = mutex.TryLock()
	} else {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		err = mutex.LockContext(ctx)
	}
	var taken *redsync.ErrTaken
	if errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed) {
		err = errHeld
	}
	return redsyncHold{mutex}, err
}

// The granted try is all SETs after the last command that was none: a try that failed is given back by a script.
func (redsyncLock) grantSent(sends []sent) int64 {
	earliest := int64(0)
	for n := len(sends) - 1; n >= 0 && sends[n].isSet; n-- {
		if earliest == 0 || sends[n].atNs < earliest {
			earliest = sends[n].atNs
		}
	}
	return earliest
}

type redsyncHold struct{ mutex *redsync.Mutex }

func (h redsyncHold) validFor() (time.Duration, bool) { return time.Until(h.mutex.Until()), true }

// The library extends by the lease that the mutex was made with; the harness asks for that one.
func (h redsyncHold) extend(time.Duration) error { return redsyncAnswer(h.mutex.Extend()) }

func (h redsyncHold) release() error { return redsyncAnswer(h.mutex.Unlock()) }

func redsyncAnswer(done bool, err error) error {
	if done {
		return nil
	}
	var taken *redsync.ErrTaken
	if err == nil || errors.As(err, &taken) || errors.Is(err, redsync.ErrLockAlreadyExpired) {
		return errNotOurs
	}
	return err
}

// ---------------------------------------------------------------------------------------------------------- redislock

const redislockPause = 50 * time.Millisecond

type redislockLock struct{ client *redislock.Client }

func newRedislock(clients []redis.UniversalClient) lock {
	return redislockLock{redislock.New(clients[0])}
}

func (l redislockLock) acquire(key string, lease, wait time.Duration) (hold, error) {
	ctx, options := context.Background(), &redislock.Options{}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
		options.RetryStrategy = redislock.LinearBackoff(redislockPause)
	}
	obtained, err := l.client.Obtain(ctx, key, lease, options)
	if errors.Is(err, redislock.ErrNotObtained) || errors.Is(err, context.DeadlineExceeded) {
		err = errHeld
	}
	return redislockHold{obtained}, err
}

// One script is one try; where the server did not know it, the same try went out once more.
func (redislockLock) grantSent(sends []sent) int64 { return sends[len(sends)-1].atNs }

type redislockHold struct{ obtained *redislock.Lock }

func (redislockHold) validFor() (time.Duration, bool) { return 0, false }

func (h redislockHold) extend(lease time.Duration) error {
	err := h.obtained.Refresh(context.Background(), lease, nil)
	if errors.Is(err, redislock.ErrNotObtained) {
		return errNotOurs
	}
	return err
}

func (h redislockHold) release() error {
	err := h.obtained.Release(context.Background())
	if errors.Is(err, redislock.ErrLockNotHeld) {
		return errNotOurs
	}
	return err
}
