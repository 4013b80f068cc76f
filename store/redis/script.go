package redis

import (
	"embed"

	driver "github.com/redis/go-redis/v9"
)

// A script is one step of the protocol. The server runs it alone, with its own clock;
// it is sent by its hash, and in full to a server that does not know it.
type script struct {
	text string
	hash string
}

//go:embed lua
var lua embed.FS

var (
	readScript    = load("read")
	claimScript   = load("claim")
	swapScript    = load("swap")
	finishScript  = load("finish")
	renewScript   = load("renew")
	historyScript = load("history")
	pageScript    = load("page")
	dueScript     = load("due")
)

func load(name string) *script {
	text := read("common") + read(name)
	return &script{text: text, hash: driver.NewScript(text).Hash()}
}

func read(name string) string {
	text, err := lua.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(text)
}

// keys are the names of everything that a store keeps. The braces put all of them
// into one slot of a cluster: a script may touch no others.
type keys struct {
	record, history string // and then the key of the record

	scheduled string // hash: digest of a scheduled activity → key of its record
	leases    string // sorted set: key of a record in flight or pending → end of its lease
	expiries  string // sorted set: key of a finished record → when its outcome may go
	refs      string // sorted set without scores: every ref, in their order
	format    string
	wait      string
}

func newKeys(prefix string) keys {
	p := "{" + prefix + "}:"
	return keys{
		record: p + "record:", history: p + "history:", scheduled: p + "scheduled", leases: p + "leases",
		expiries: p + "expiries", refs: p + "refs", format: p + "format", wait: p + "wait",
	}
}
