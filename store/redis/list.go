package redis

import (
	"context"

	"github.com/effectonce/effectonce/key"
	"github.com/effectonce/effectonce/store"
)

// Lookup implements [store.Lister].
func (s *Store) Lookup(ctx context.Context, k key.Key) (store.Record, error) {
	var r row
	answer, err := s.do(newCall(ctx), s.newRead(store.Ref{Key: k}, store.Digest{}, false))
	if err == nil {
		r, err = answer.row()
	}
	if err != nil {
		return store.Record{}, failed("look up "+k.String(), err)
	}
	r.Key = k
	return r.Record, nil
}

// List implements [store.Lister]. It reads all records behind f.After until the page
// is full, some hundred at a time: it is for people.
func (s *Store) List(ctx context.Context, f store.Filter) ([]store.Record, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	page, err := s.page(newCall(ctx), f)
	return page, failed("list", err)
}

func (s *Store) page(c *call, f store.Filter) (page []store.Record, err error) {
	for after := member(f.After); ; {
		next, err := s.do(c, &job{script: pageScript, keys: []string{s.keys.refs}, args: []any{after, maxBatch}})
		if err != nil || len(next.list) == 0 {
			return page, err
		}
		rows, err := s.rows(c, next.list)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if f.Matches(r.Record) {
				page = append(page, r.Record)
			}
			if len(page) == f.Size() {
				return page, nil
			}
		}
		after = next.list[len(next.list)-1]
	}
}

// rows reads the records of members of the index of refs.
func (s *Store) rows(c *call, members []string) ([]row, error) {
	refs, jobs, rows := make([]store.Ref, len(members)), make([]*job, len(members)), make([]row, len(members))
	for i, m := range members {
		if len(m) == len(refs[i].Root)+len(refs[i].Key) {
			copy(refs[i].Key[:], m[copy(refs[i].Root[:], m):])
		}
		jobs[i] = s.newRead(refs[i], store.Digest{}, false)
	}
	if err := s.all(c, jobs); err != nil {
		return nil, err
	}
	for i, j := range jobs {
		if j.err != nil {
			return nil, j.err
		}
		var err error
		if rows[i], err = j.reply.of(refs[i]); err != nil {
			return nil, failed(refs[i].Key.String(), err)
		}
	}
	return rows, nil
}
