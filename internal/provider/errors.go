package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// DeclinedError is returned when the provider declined the request: it was not applied. Asking again
// with the same key gives the same answer, even after the reason is gone.
type DeclinedError struct{ Code, Message string }

func (e *DeclinedError) Error() string { return fmt.Sprintf("declined (%s): %s", e.Code, e.Message) }

// RefusedError is returned when the provider turned the request away before doing anything: it was
// not applied. Sending it again is safe; a request that is invalid (status 400) stays so.
type RefusedError struct {
	Status        int
	Code, Message string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused, not applied (%d %s): %s", e.Status, e.Code, e.Message)
}

// KeyReusedError is returned when the key was used before with a request that differs. This request
// was not applied, but the first one may have been: [Client.AskKey] tells.
type KeyReusedError struct{ Key string }

func (e *KeyReusedError) Error() string {
	return fmt.Sprintf("key %q was used before with another request; ask what happened under it", e.Key)
}

// StatusError is returned for an answer that does not say whether the request was applied, such as
// a gateway's 502.
type StatusError struct {
	Status int
	Body   string // the beginning of the answer's body
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d %s, maybe applied: %q", e.Status, http.StatusText(e.Status), e.Body)
}

// errorOf makes the error of an answer that is not a success.
func errorOf(status int, body []byte, key string) error {
	var b errorBody
	if json.Unmarshal(body, &b) == nil {
		switch b.Code {
		case codeDeclined:
			return &DeclinedError{Code: b.Code, Message: b.Message}
		case codeNotProcessed, codeInvalid:
			return &RefusedError{Status: status, Code: b.Code, Message: b.Message}
		case codeKeyReused:
			return &KeyReusedError{Key: key}
		}
	}
	return &StatusError{Status: status, Body: string(body[:min(len(body), 200)])}
}
