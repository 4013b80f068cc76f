// Package sqlite keeps records in one SQLite file: the embedded default, for the
// processes of one host.
//
//	s, err := sqlite.Open(ctx, "effectonce.db", sqlite.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//
// # Promises
//
// What was answered without an error is on disk (write-ahead log, synchronous
// FULL): it survives SIGKILL and, as far as the disk keeps its word, a power cut.
// Any number of processes of one host may open the file at once. Writes of all
// goroutines of a process share commits: while one is being written, the next
// callers gather.
//
// Rows of the caller's own, in the same file, can be committed together with the
// outcome of their action: [Store.DB], [Store.CommitTx].
//
// Not promised: the file on a network file system, and one file per pod or host.
// Each file is a store of its own, and two stores know nothing of each other.
//
// A program on Linux may call Fdatasync(true) of modernc.org/sqlite: commits then
// take about half the time, and are as durable. The switch is for the whole
// process, so it is the program's to make.
//
// # Errors
//
//	no such folder, or no right to it      → ErrPath, from Open
//	file or folder cannot be written       → ErrReadOnly
//	not an SQLite file, or a damaged one   → ErrDamaged (also store.ErrCorrupt)
//	an SQLite file of another program      → ErrForeign, from Open
//	made by a newer version of this package → ErrNewer, from Open
//	locked by somebody for BusyTimeout     → ErrBusy: not applied
//	after Close                            → ErrClosed: not applied
//	one record cannot be read              → store.ErrCorrupt
//
// and those of package store. A context that is done withdraws a call that has not
// begun; one that has begun is answered after its commit. So no answer is
// ambiguous, except for one that failed to be written: disk full, input or output.
//
// # Clock and concurrency
//
// The clock is that of the host, read while the write lock is held. All methods
// are safe for concurrent use by any number of goroutines and processes.
package sqlite
