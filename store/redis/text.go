package redis

import (
	"errors"
	"strconv"
	"strings"
)

// Several strings in one: each with its length before it and a comma behind it, so
// that any bytes may be in them and people can read them: "4:acme,6:Refund,".

func texts(all ...string) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(strconv.Itoa(len(s)))
		b.WriteByte(':')
		b.WriteString(s)
		b.WriteByte(',')
	}
	return b.String()
}

// split is the reverse of texts. There must be as many strings as places for them.
func split(joined string, into ...*string) error {
	rest := joined
	for _, place := range into {
		var err error
		if *place, rest, err = cut(rest); err != nil {
			return err
		}
	}
	if rest != "" {
		return errors.New("more than belongs there")
	}
	return nil
}

func cut(joined string) (first, rest string, err error) {
	length, rest, _ := strings.Cut(joined, ":")
	n, err := strconv.ParseUint(length, 10, 31)
	if err != nil || uint64(len(rest)) <= n || rest[n] != ',' {
		return "", "", errors.New("not a string with its length")
	}
	return rest[:n], rest[n+1:], nil
}
