// Package storeurl opens the store that a URL names.
//
//	opened, err := storeurl.Open(ctx, os.Getenv("EFFECTONCE_STORE"), storeurl.Options{})
//	if err != nil {
//		return err
//	}
//	defer opened.Close()
//
// # URLs
//
//	sqlite:records.db                   a file, relative to the working directory
//	sqlite:///var/lib/app/records.db    a file, absolute
//	postgres://user:password@host/db    PostgreSQL; postgresql:// is the same
//	postgres://…/db?schema=payments     its tables in another schema than "effectonce"
//	postgres://…/db?notify=false        behind a pooler, and with …&default_query_exec_mode=exec
//	postgres://…/db?portable=true       for distributed engines: postgres.Options.Portable
//	redis://user:password@host/0        Redis, one server; rediss:// is the same with TLS
//	redis://…/0?prefix=payments         its keys under another prefix than "effectonce"
//	memory:                             gone with the process; for trying things out
//
// The path of a file is taken as it is written, without decoding. A postgres URL
// takes every parameter that the driver knows (sslmode, pool_max_conns, …), and
// what it leaves out comes from the usual PG* variables; a redis URL takes those of
// its driver. A special character in the user, the password or a parameter is written
// in percent encoding.
//
// # Promises
//
// A store that is opened is ready: its tables are there and of a version that this
// program knows. It is made or migrated as needed, unless [Options.Existing] says
// that it has to be there. No error and no [Opened.Name] contains a password.
//
// # Errors
//
//	the URL is empty                              → ErrNoURL
//	it starts with another scheme                 → ErrScheme
//	its scheme is known, the rest makes no sense  → ErrSyntax
//	its folder, file, tables or keys are missing  → ErrMissing
//	the server does not answer or refuses us      → ErrUnreachable
//	its tables are newer than this program        → postgres.ErrNewerSchema
//	they were made with another ?portable         → postgres.ErrPortable
//
// # Concurrency
//
// Open may be called from anywhere, also for one URL in several processes. Close is
// called once, when nobody uses the store any more.
package storeurl
