package storeurl

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// address is the URL of a server, taken apart.
type address struct {
	url  string            // for the driver: without our own parameters
	name string            // for people: without password and other parameters than ours
	own  map[string]string // the values of our own parameters
}

// parseAddress does not use net/url, which knows no lists of hosts. It is strict
// about where an "@" may be: one in the wrong place makes half a password the name
// of a host or database, and those are printed.
//
// own are the names of our own parameters, which the driver does not know.
func parseAddress(scheme, rest string, own ...string) (address, error) {
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return address{}, fmt.Errorf("%w: write %s://USER:PASSWORD@HOST/DATABASE", ErrSyntax, scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	user, host, hasUser := strings.Cut(authority, "@")
	if !hasUser {
		user, host = "", authority
	}
	if strings.Contains(host+path+query, "@") || !decodes(user) {
		return address{}, fmt.Errorf("%w: special characters in a user, password or parameter must be percent-encoded: / as %%2F, ? as %%3F, @ as %%40, %% as %%25", ErrSyntax)
	}
	a := address{url: scheme + "://" + rest, name: scheme + "://", own: map[string]string{}}
	if login, _, _ := strings.Cut(user, ":"); login != "" {
		a.name += login + "@"
	}
	a.name += host
	if hasPath {
		a.name += "/" + path
	}
	others, err := a.take(own, query)
	if err != nil {
		return address{}, err
	}
	if others != "" {
		a.url += "?" + others
	}
	return a, nil
}

// take takes our own parameters out of a query and returns the others as they are.
func (a *address) take(own []string, query string) (others string, err error) {
	var kept []string
	separator := "?"
	for part := range strings.SplitSeq(query, "&") {
		name, value, hasValue := strings.Cut(part, "=")
		switch {
		case part == "":
		case !hasValue:
			return "", fmt.Errorf("%w: parameters must be NAME=VALUE, separated by &", ErrSyntax)
		case !slices.Contains(own, name):
			kept = append(kept, part)
		default:
			text, err := url.PathUnescape(value)
			if err != nil || text == "" || a.own[name] != "" {
				return "", fmt.Errorf("%w: give %s=VALUE once, with a value", ErrSyntax, name)
			}
			a.own[name] = text
			a.name += separator + part
			separator = "&"
		}
	}
	return strings.Join(kept, "&"), nil
}

// yes returns the value of one of our own parameters that is true or false.
func (a *address) yes(parameter string, otherwise bool) (bool, error) {
	switch a.own[parameter] {
	case "":
		return otherwise, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%w: %s: %s must be true or false", ErrSyntax, a.name, parameter)
}

// refused is what the driver says about a URL, without the URL: the driver's own
// error carries it in full.
func (a *address) refused(err error) error {
	_, why, found := strings.Cut(err.Error(), "`: ")
	if !found {
		why = "the driver cannot read it"
	}
	return fmt.Errorf("%w: %s: %s", ErrSyntax, a.name, why)
}

func decodes(text string) bool {
	_, err := url.PathUnescape(text)
	return err == nil
}
