package postgres

import (
	"encoding/binary"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// arrays are the arguments of a statement for many jobs: one array for each column, as
// PostgreSQL takes arrays in binary (array_recv), one behind the other. They are written
// straight into memory that is used again: pgx would make a value of each element, and
// that was a quarter of the processor time that an action took here at 256 callers.
type arrays struct {
	jobs []*job
	buf  []byte
	ends []int
}

var arraysPool = sync.Pool{New: func() any { return new(arrays) }}

// arraysFor returns arrays without a column, of which each will have one value for each
// job. They are given back with free.
func arraysFor(jobs []*job) *arrays {
	a := arraysPool.Get().(*arrays)
	a.jobs, a.buf, a.ends = jobs, a.buf[:0], a.ends[:0]
	return a
}

func (a *arrays) free() {
	a.jobs = nil
	arraysPool.Put(a)
}

// args returns the arrays as arguments.
func (a *arrays) args() [][]byte {
	args := make([][]byte, len(a.ends))
	start := 0
	for i, end := range a.ends {
		args[i], start = a.buf[start:end], end
	}
	return args
}

var big = binary.BigEndian

// column adds an array. value appends a job's value, or reports that it is null.
func (a *arrays) column(element uint32, value func(dst []byte, j *job) (_ []byte, null bool)) {
	const dimensions, mayHaveNulls, firstIndex = 1, 1, 1
	for _, n := range [...]uint32{dimensions, mayHaveNulls, element, uint32(len(a.jobs)), firstIndex} {
		a.buf = big.AppendUint32(a.buf, n)
	}
	for _, j := range a.jobs {
		const null = 1<<32 - 1
		a.buf = big.AppendUint32(a.buf, null)
		start := len(a.buf)
		out, isNull := value(a.buf, j)
		if !isNull {
			big.PutUint32(out[start-4:], uint32(len(out)-start))
		}
		a.buf = out
	}
	a.ends = append(a.ends, len(a.buf))
}

func (a *arrays) texts(of func(*job) string) {
	a.column(pgtype.TextOID, func(dst []byte, j *job) ([]byte, bool) { return append(dst, of(j)...), false })
}

// blobs are null where they are nil.
func (a *arrays) blobs(of func(*job) []byte) {
	a.column(pgtype.ByteaOID, func(dst []byte, j *job) ([]byte, bool) {
		b := of(j)
		return append(dst, b...), b == nil
	})
}

func (a *arrays) uuids(of func(*job) [16]byte) {
	a.column(pgtype.UUIDOID, func(dst []byte, j *job) ([]byte, bool) {
		id := of(j)
		return append(dst, id[:]...), false
	})
}

func (a *arrays) integers(of func(*job) int32) {
	a.column(pgtype.Int4OID, func(dst []byte, j *job) ([]byte, bool) { return big.AppendUint32(dst, uint32(of(j))), false })
}

func (a *arrays) bigints(of func(*job) int64) {
	a.column(pgtype.Int8OID, func(dst []byte, j *job) ([]byte, bool) { return big.AppendUint64(dst, uint64(of(j))), false })
}

func (a *arrays) intervals(of func(*job) pgtype.Interval) {
	a.column(pgtype.IntervalOID, func(dst []byte, j *job) ([]byte, bool) {
		i := of(j)
		if !i.Valid {
			return dst, true
		}
		dst = big.AppendUint64(dst, uint64(i.Microseconds))
		return big.AppendUint32(big.AppendUint32(dst, uint32(i.Days)), uint32(i.Months)), false
	})
}
