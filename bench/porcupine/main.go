// Decides one lock history with Porcupine, for comparison: main HISTORY SECONDS MEGABYTES.
//
// A line of HISTORY is an operation: a (acquire) or r (release), the section it begins or ends, its call, and its return
// or - where the outcome is not known; times in nanoseconds. Prints {"verdict", "ms", "maxRssKb"} as JSON. The time is
// that of the check alone. When the seconds or the megabytes are spent, the verdict is "unknown" and "spent" says on what.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/anishathalye/porcupine"
)

// What is asked of the lock: a section is one hold of one client, so it tells owners apart.
type request struct {
	release bool
	section int
}

const free = -1

// A mutex with an owner; the state is the section that holds it.
//
// An operation of unknown outcome returns after everything else, and never fails: one that had no effect can take its
// place at the end, where an effect changes nothing.
var mutex = porcupine.Model{
	Init: func() interface{} { return free },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		held, asked, known := state.(int), input.(request), output.(bool)
		if asked.release {
			if held == asked.section {
				return true, free
			}
			return !known, held
		}
		if held == free {
			return true, asked.section
		}
		return !known, held
	},
	Hash: func(state interface{}) uint64 { return uint64(state.(int)+1) * 0x9e3779b97f4a7c15 },
}

type report struct {
	Verdict  string  `json:"verdict"`
	Spent    string  `json:"spent,omitempty"`
	Ms       float64 `json:"ms"`
	MaxRssKb int64   `json:"maxRssKb"`
}

func main() {
	if len(os.Args) != 4 {
		fail("usage: main HISTORY SECONDS MEGABYTES")
	}
	seconds, megabytes := number(os.Args[2]), number(os.Args[3])
	history := read(os.Args[1])
	began := time.Now()
	go stopAbove(uint64(megabytes)<<20, began)
	result := porcupine.CheckOperationsTimeout(mutex, history, time.Duration(seconds)*time.Second)
	switch result {
	case porcupine.Ok:
		tell("valid", "", began)
	case porcupine.Illegal:
		tell("invalid", "", began)
	default:
		tell("unknown", "time", began)
	}
}

func read(path string) []porcupine.Operation {
	file, err := os.Open(path)
	if err != nil {
		fail(err.Error())
	}
	defer file.Close()
	var history []porcupine.Operation
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		word := strings.Split(lines.Text(), " ")
		if len(word) != 4 {
			fail("not an operation: " + lines.Text())
		}
		known, returned := word[3] != "-", int64(math.MaxInt64)
		if known {
			returned = int64(number(word[3]))
		}
		history = append(history, porcupine.Operation{
			ClientId: len(history),
			Input:    request{release: word[0] == "r", section: number(word[1])},
			Call:     int64(number(word[2])),
			Output:   known,
			Return:   returned,
		})
	}
	return history
}

// Ends the program when it has taken more memory than that: better than the machine does.
func stopAbove(bytes uint64, began time.Time) {
	for range time.Tick(50 * time.Millisecond) {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		if memory.HeapSys > bytes {
			tell("unknown", "memory", began)
		}
	}
}

func tell(verdict, spent string, began time.Time) {
	ms := float64(time.Since(began).Microseconds()) / 1e3
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err.Error())
	}
	line, err := json.Marshal(report{verdict, spent, ms, usage.Maxrss})
	if err != nil {
		fail(err.Error())
	}
	fmt.Println(string(line))
	os.Exit(0)
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		fail("not a number: " + text)
	}
	return value
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
