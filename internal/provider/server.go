package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Names of the headers a request is sent with.
const (
	headerCase = "X-Case"          // free text; groups requests for questions and faults
	headerKey  = "Idempotency-Key" // optional
)

// maxBody is the longest request body that is read.
const maxBody = 1 << 20

// Options configure [NewServer]. The zero value keeps the journal in memory.
type Options struct {
	// Journal is the path of the JSON-lines file that keeps the effects. It is created if
	// missing. Empty: memory only. One process at a time may use a file.
	Journal string
}

// Server is the provider: an [http.Handler].
type Server struct {
	mux        *http.ServeMux
	journal    *journal
	behaviours behaviours
	keys       keys
	requests   counter
	stop       chan struct{}
	stopOnce   sync.Once
}

var _ http.Handler = (*Server)(nil)

// NewServer returns a provider that knows the effects of its journal. It returns an error if the
// journal cannot be opened or holds a line that is not an effect.
func NewServer(o Options) (*Server, error) {
	j, err := openJournal(o.Journal)
	if err != nil {
		return nil, err
	}
	s := &Server{mux: http.NewServeMux(), journal: j, stop: make(chan struct{})}
	for path, kind := range endpoints {
		s.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.effect(w, r, kind) })
	}
	s.mux.HandleFunc("GET /orders/{id}", s.order)
	s.mux.HandleFunc("GET /effects", s.effects)
	s.mux.HandleFunc("GET /keys/{key}", s.question)
	s.mux.HandleFunc("GET /stats", s.stats)
	s.mux.HandleFunc("POST /faults", s.setFaults)
	s.mux.HandleFunc("POST /reset", s.reset)
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends all programmed delays (what was not committed then never is) and closes the journal.
// To stop gracefully call it after [http.Server.Shutdown]; calling it again does nothing.
func (s *Server) Close() error {
	var err error
	s.stopOnce.Do(func() {
		close(s.stop)
		err = s.journal.close()
	})
	return err
}

// effect serves a request for an effect.
func (s *Server) effect(w http.ResponseWriter, r *http.Request, kind Kind) {
	body, err := readObject(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, codeInvalid, err.Error())
		return
	}
	req := request{kind: kind, caseID: r.Header.Get(headerCase), key: r.Header.Get(headerKey), body: body}
	s.requests.add(req.caseID)
	fault, ignoreKeys := s.behaviours.next(req.caseID, kind)

	var a answer
	if req.key == "" || ignoreKeys {
		a = s.apply(req, fault)
	} else {
		a = s.applyOnce(req, fault)
	}
	s.end(w, a, fault.Ending)
}

// applyOnce applies req unless something is known under its key, which is then the answer.
func (s *Server) applyOnce(req request, fault Fault) answer {
	defer s.keys.lock(req.key)()
	if first, ok := s.remembered(req.key); ok {
		if first.kind != req.kind || !bytes.Equal(first.body, req.body) {
			return failure(http.StatusUnprocessableEntity, codeKeyReused, "this Idempotency-Key was used with another request")
		}
		return first.answer
	}
	a := s.apply(req, fault)
	if a.status == http.StatusPaymentRequired {
		s.keys.remember(req, a)
	}
	return a
}

// remembered returns what was first answered under a key: an effect, or else a decline.
func (s *Server) remembered(key string) (answered, bool) {
	if e, ok := s.journal.underKey(key); ok {
		return answered{kind: e.Kind, body: e.Body, answer: answer{status: http.StatusOK, body: e.Response}}, true
	}
	return s.keys.declined(key)
}

// apply makes req an effect, unless the fault says otherwise.
func (s *Server) apply(req request, fault Fault) answer {
	if !s.wait(fault.Before) {
		return answer{lost: true}
	}
	switch fault.Ending {
	case EndFail:
		return failure(http.StatusInternalServerError, codeNotProcessed, "the request was not processed")
	case EndDecline:
		return failure(http.StatusPaymentRequired, codeDeclined, "the card was declined")
	}
	e, err := s.journal.commit(
		Effect{Kind: req.kind, Case: req.caseID, Key: req.key, Body: req.body},
		func(sequence int64) json.RawMessage { return receipt(req, sequence) },
	)
	if err != nil {
		return answer{status: http.StatusInternalServerError, body: []byte(err.Error())}
	}
	s.wait(fault.After)
	return answer{status: http.StatusOK, body: e.Response}
}

// wait lets d pass; it reports false if the server was closed instead.
func (s *Server) wait(d time.Duration) bool {
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.stop:
		return false
	}
}

func receipt(req request, sequence int64) json.RawMessage {
	r := Receipt{ID: fmt.Sprintf("%s-%d", req.kind, sequence)}
	if req.kind == KindRefund || req.kind == KindCharge {
		var of struct {
			OrderID int64 `json:"order_id"`
		}
		if json.Unmarshal(req.body, &of) == nil {
			r.OrderID = of.OrderID
		}
	}
	text, _ := json.Marshal(r) // a string and an integer always marshal
	return text
}

// readObject reads a JSON object without its spaces.
func readObject(r *http.Request) (json.RawMessage, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxBody {
		return nil, fmt.Errorf("the body is longer than %d bytes", maxBody)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	if b.Bytes()[0] != '{' {
		return nil, fmt.Errorf("the body is not a JSON object")
	}
	return b.Bytes(), nil
}

func (s *Server) order(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || id < 1 {
		writeError(w, http.StatusNotFound, codeInvalid, "no such order")
		return
	}
	writeJSON(w, Order{ID: id, TotalCents: 10_000, Status: "paid"})
}

func (s *Server) effects(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	writeJSON(w, s.journal.list(Filter{Kind: Kind(q.Get("kind")), Case: q.Get("case")}))
}

// question answers what happened under a key. The case is the one asked with, else the one the
// effect had.
func (s *Server) question(w http.ResponseWriter, r *http.Request) {
	e, applied := s.journal.underKey(r.PathValue("key"))
	caseID := r.Header.Get(headerCase)
	if caseID == "" {
		caseID = e.Case
	}
	if s.behaviours.refusesQuestions(caseID) {
		writeError(w, http.StatusNotFound, codeNoQuestions, "questions about keys are not answered")
		return
	}
	writeJSON(w, keyAnswer{Applied: applied, Response: e.Response})
}

func (s *Server) stats(w http.ResponseWriter, r *http.Request) {
	caseID := r.URL.Query().Get("case")
	writeJSON(w, Stats{Requests: s.requests.of(caseID), Effects: len(s.journal.list(Filter{Case: caseID}))})
}

func (s *Server) setFaults(w http.ResponseWriter, r *http.Request) {
	var b Behaviour
	d := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(&b)
	if err == nil {
		err = b.validate()
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, codeInvalid, err.Error())
		return
	}
	s.behaviours.set(b)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) reset(w http.ResponseWriter, _ *http.Request) {
	s.behaviours.clear()
	s.requests.clear()
	s.keys.clear()
	if err := s.journal.clear(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
