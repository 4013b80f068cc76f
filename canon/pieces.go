package canon

import (
	"bytes"
	"iter"
	"strconv"
)

// Canonical text needs no parser to be taken apart: there is no white space, and
// it is known to be valid.

// valueEnd returns the offset after the value at text[i:].
func valueEnd(text []byte, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// stringEnd returns the offset after the string at text[i:].
func stringEnd(text []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(text[i:], '"')
		backslashes := 0
		for text[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i + 1
		}
	}
}

// unquote returns the name that a canonical string stands for.
func unquote(name []byte) string {
	if bytes.IndexByte(name, '\\') < 0 {
		return string(name[1 : len(name)-1])
	}
	return string(unescape(nil, name))
}

// members yields the names, quotes included, and values of an object.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := 1; i < len(object)-1; {
			colon := valueEnd(object, i)
			end := valueEnd(object, colon+1)
			if !yield(object[i:colon], object[colon+1:end]) {
				return
			}
			i = end + 1
		}
	}
}

// elements yields the elements of an array.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(i int, value []byte) bool) {
		for i, n := 1, 0; i < len(array)-1; n++ {
			end := valueEnd(array, i)
			if !yield(n, array[i:end]) {
				return
			}
			i = end + 1
		}
	}
}

// lookup returns the part of a canonical text that the tokens of a pointer name, or
// nil.
func lookup(text []byte, tokens []string) []byte {
	if len(tokens) == 0 {
		return text
	}
	switch text[0] {
	case '{':
		for name, value := range members(text) {
			if unquote(name) == tokens[0] {
				return lookup(value, tokens[1:])
			}
		}
	case '[':
		for i, value := range elements(text) {
			if strconv.Itoa(i) == tokens[0] {
				return lookup(value, tokens[1:])
			}
		}
	}
	return nil
}
