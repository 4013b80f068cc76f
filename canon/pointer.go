package canon

import (
	"strconv"
	"strings"
)

// parsePointer returns the tokens of a pointer into an argument list, or nil if
// it is malformed: it must start with an argument's index.
func parsePointer(text string) []string {
	if !strings.HasPrefix(text, "/") {
		return nil
	}
	tokens := strings.Split(text[1:], "/")
	if _, ok := parseIndex(tokens[0]); !ok {
		return nil
	}
	for i, token := range tokens {
		for rest := token; ; {
			_, after, found := strings.Cut(rest, "~")
			if !found {
				break
			}
			if after == "" || after[0] != '0' && after[0] != '1' {
				return nil
			}
			rest = after
		}
		token = strings.ReplaceAll(token, "~1", "/")
		tokens[i] = strings.ReplaceAll(token, "~0", "~")
	}
	return tokens
}

// parseIndex reads an array index: digits without leading zeros.
func parseIndex(token string) (int, bool) {
	n, err := strconv.Atoi(token)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == token
}

// escapePointer is the opposite of what parsePointer does to a token.
func escapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
