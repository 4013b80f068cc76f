package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/effectonce/effectonce/store"
)

// The statements of the write path. All are prepared once, on the one connection
// that writes.
const (
	selectByRef       = "SELECT id, " + columns + " FROM records WHERE root = ? AND key = ?"
	selectByScheduled = "SELECT id, " + columns + " FROM records WHERE scheduled = ?"
)

var (
	insertRecord = "INSERT INTO records (" + columns + ") VALUES (" + marks(columns) + ") ON CONFLICT DO NOTHING"
	updateClaim  = "UPDATE records SET (" + columns + ") = (" + marks(columns) + ") WHERE id = ?"
	updateChange = "UPDATE records SET (" + changeable + ") = (" + marks(changeable) + ") WHERE id = ?"
	updateLease  = "UPDATE records SET (state, lease) = (?, ?) WHERE id = ?"
	firstHistory = "INSERT INTO history (record, n, at, verb, from_state, to_state, token, fence, generation, attempt, " +
		"workflow_id, run_id, who, why) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
	insertHistory = "INSERT INTO history (record, n, at, verb, from_state, to_state, token, fence, generation, attempt, " +
		"workflow_id, run_id, who, why) SELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 " +
		"FROM history WHERE record = ?1"
)

// tx is the write transaction that is open on the writer's connection. It has no
// context: once begun, a change is finished.
type tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func prepare(ctx context.Context, c *sql.Conn) (tx, error) {
	t := tx{c, map[string]*sql.Stmt{}}
	for _, text := range []string{
		"BEGIN IMMEDIATE", "COMMIT", "ROLLBACK",
		selectByRef, selectByScheduled, insertRecord, updateClaim, updateChange, updateLease, firstHistory, insertHistory,
	} {
		stmt, err := c.PrepareContext(ctx, text)
		if err != nil {
			return t, err
		}
		t.stmts[text] = stmt
	}
	return t, nil
}

func (t tx) close() (err error) {
	for _, stmt := range t.stmts {
		err = errors.Join(err, stmt.Close())
	}
	return err
}

func (t tx) exec(text string, args ...any) (sql.Result, error) { return t.stmts[text].Exec(args...) }

// now is the store's clock. It is asked while the write lock is held, so that of
// two changes the later one has the later time.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

func (t tx) record(ref store.Ref, now time.Time) (row, error) {
	rows, err := t.stmts[selectByRef].Query(ref.Root[:], ref.Key[:])
	return one(rows, err, now)
}

// otherOf returns the record that q's scheduled activity claimed, if it is another
// one than q asks for.
func (t tx) otherOf(q store.Request, now time.Time) (store.Record, bool, error) {
	if q.Scheduled == (store.Digest{}) {
		return store.Record{}, false, nil
	}
	rows, err := t.stmts[selectByScheduled].Query(q.Scheduled[:])
	r, err := one(rows, err, now)
	if errors.Is(err, store.ErrNotFound) {
		return store.Record{}, false, nil
	}
	return r.Record, err == nil && r.Ref != q.Ref, err
}

// first writes a record, unless there is one of the same ref or scheduled activity.
func (t tx) first(r store.Record, who string) (written bool, err error) {
	res, err := t.exec(insertRecord, values(r)...)
	if err != nil {
		return false, err
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return false, err
	}
	return true, t.log(firstHistory, id, r.Log(nil, store.Claimed, who, ""))
}

// claimed writes next over prev, which somebody else has claimed.
func (t tx) claimed(prev row, next store.Record, verb store.Verb, who string) error {
	if _, err := t.exec(updateClaim, append(values(next), prev.id)...); err != nil {
		return err
	}
	return t.log(insertHistory, prev.id, next.Log(&prev.Record, verb, who, ""))
}

// changed writes next over prev, after anything but a claim.
func (t tx) changed(prev row, next store.Record, verb store.Verb, who, why string) error {
	if _, err := t.exec(updateChange, append(changes(next), prev.id)...); err != nil {
		return err
	}
	return t.log(insertHistory, prev.id, next.Log(&prev.Record, verb, who, why))
}

// renewed writes a longer lease, which is history only if it was over.
func (t tx) renewed(prev row, next store.Record) error {
	if _, err := t.exec(updateLease, string(next.State), ofTime(next.Lease), prev.id); err != nil {
		return err
	}
	if !prev.LogRenewal(next.Now) {
		return nil
	}
	return t.log(insertHistory, prev.id, next.Log(&prev.Record, store.Resumed, "", ""))
}

func (t tx) log(insert string, id int64, e store.Entry) error {
	_, err := t.exec(insert, id, ofTime(e.At), string(e.Verb), string(e.From), string(e.To), ofToken(e.Token),
		e.Fence, e.Generation, e.Attempt, e.WorkflowID, e.RunID, e.Who, e.Why)
	return err
}
