package dynamodb

import (
	"container/list"
	"sync"
)

// recent remembers what was used last, up to a number of entries. It is safe for
// concurrent use.
type recent[K comparable, V any] struct {
	mu    sync.Mutex
	limit int
	order list.List // of *entry[K, V], the one used last in front
	of    map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, of: map[K]*list.Element{}}
}

func (r *recent[K, V]) get(k K) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.of[k]
	if !ok {
		return v, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// first returns the value that k has, or gives it this one.
func (r *recent[K, V]) first(k K, v V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.of[k]; ok {
		r.order.MoveToFront(e)
		return e.Value.(*entry[K, V]).value
	}
	r.add(k, v)
	return v
}

func (r *recent[K, V]) put(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(k)
	r.add(k, v)
}

func (r *recent[K, V]) drop(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(k)
}

// retire makes k the next to be forgotten.
func (r *recent[K, V]) retire(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.of[k]; ok {
		r.order.MoveToBack(e)
	}
}

func (r *recent[K, V]) add(k K, v V) {
	r.of[k] = r.order.PushFront(&entry[K, V]{k, v})
	if r.order.Len() > r.limit {
		r.remove(r.order.Back().Value.(*entry[K, V]).key)
	}
}

func (r *recent[K, V]) remove(k K) {
	if e, ok := r.of[k]; ok {
		r.order.Remove(e)
		delete(r.of, k)
	}
}
