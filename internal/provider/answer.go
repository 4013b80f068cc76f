package provider

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// answer is what a request is to be answered.
type answer struct {
	status int
	body   []byte
	lost   bool // the server is stopping: no answer at all
}

// The codes of error answers.
const (
	codeInvalid      = "invalid_request"
	codeNotProcessed = "not_processed"
	codeDeclined     = "card_declined"
	codeKeyReused    = "key_reused"
	codeNoQuestions  = "not_answered"
)

// errorBody is the JSON of an error answer.
type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// keyAnswer is the JSON of an answer to a question about a key.
type keyAnswer struct {
	Applied  bool            `json:"applied"`
	Response json.RawMessage `json:"response,omitempty"`
}

func failure(status int, code, message string) answer {
	text, _ := json.Marshal(errorBody{Code: code, Message: message}) // two strings always marshal
	return answer{status: status, body: text}
}

// end sends a in the way the ending says. Only a success gets lost: a request that was refused is
// told so.
func (s *Server) end(w http.ResponseWriter, a answer, e Ending) {
	if a.lost {
		drop(w, false)
		return
	}
	if a.status == http.StatusOK {
		switch e {
		case EndClose:
			drop(w, false)
			return
		case EndReset:
			drop(w, true)
			return
		case EndCut:
			cut(w, a)
			return
		case EndBadGateway:
			http.Error(w, "bad gateway", http.StatusBadGateway)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a caller that has gone learns nothing, as with every provider
}

// drop ends the connection without an answer: with a FIN, or with an RST.
func drop(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not a plain TCP connection: ends it as well
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// cut sends the head and half of the body.
func cut(w http.ResponseWriter, a answer) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(a.body), a.body[:len(a.body)/2])
	_ = conn.Close()
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	a := failure(status, code, message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}
