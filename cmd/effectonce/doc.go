// Command effectonce looks at the store of a worker and amends what is recorded
// there: it is for the person who has been told that an outcome is unknown. It
// needs the store only, no Temporal.
//
//	export EFFECTONCE_STORE=postgres://me:secret@db/payments
//	effectonce list --uncertain
//	effectonce show KEY
//	effectonce resolve KEY --applied --result '{"refund":"re_17"}' --why "seen in the provider's console"
//
// # Promises
//
// A command that amends reads the record, shows it in short and changes it only if
// it is still as it was read; --fence ties it to what "show" printed before. Who
// and why are in the history. Only "prune" deletes, without a trace. No server is
// migrated, no password printed.
//
// # Exit codes
//
//	0  done
//	1  not done, and nothing was changed: no such record, refused, changed by
//	   somebody else meanwhile, store unreachable; of sweep, expire and prune,
//	   which are safe to run again, a part may have been done
//	2  the command line is wrong: nothing was looked at
//	3  the store's answer was lost: the change may or may not have been made
package main
