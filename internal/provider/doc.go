// Package provider is a small outside company, with the client for it: it refunds and charges
// cards, sends mail and opens tickets, and writes every effect to a journal.
//
// It stands in the samples and tests for the systems that activities talk to. It is reached over
// real HTTP, and it can be as awkward as the real ones: slow, silent after the work is done,
// declining, deaf to Idempotency-Key headers, unable to say what it did.
//
//	s, err := provider.NewServer(provider.Options{Journal: "effects.jsonl"})
//	…
//	go http.Serve(listener, s)
//	c := provider.NewClient("http://" + listener.Addr().String())
//	receipt, err := c.Refund(ctx, provider.Call{Case: "case-7", Key: key}, provider.RefundRequest{OrderID: 1, AmountCents: 500})
//
// # Promises
//
// An effect is committed when its line is in the journal and synced to disk; everything after that
// only concerns the answer. Every [Server] opened on a journal knows all effects in it, and what
// was answered to the keys that carried them. [Behaviour], counts and remembered declines live in
// memory and end with the process.
//
// With keys honoured (the default), a key is looked up before anything else: a decline or a refusal
// means that nothing was ever applied under that key. With [Behaviour.IgnoreKeys] they speak about
// the one request only.
//
// # What the client's errors say
//
//	declined (402)                         *DeclinedError    not applied
//	refused before the commit              *RefusedError     not applied
//	same key, another request (422)        *KeyReusedError   an earlier request has the key: ask
//	closed, reset, cut short               the error of net/http or io   nobody knows
//	any other status (502 of a gateway)    *StatusError      nobody knows
//	the context ends                       its error         nobody knows
//
// # Concurrency
//
// [Server] and [Client] may be used by any number of goroutines. Two requests with one honoured key
// are served one after the other. All times are the provider's clock.
package provider
