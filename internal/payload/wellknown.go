package payload

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/effectonce/effectonce/canon"
)

// ownForm returns the JSON form of a message whose form is not an object of its
// fields.
type ownForm func(w *walker, m protoreflect.Message) (any, error)

// ownFormOf returns nil for all other messages.
func ownFormOf(name protoreflect.FullName) ownForm {
	switch name {
	case "google.protobuf.Any":
		return (*walker).any
	case "google.protobuf.Timestamp":
		return (*walker).timestamp
	case "google.protobuf.Duration":
		return (*walker).duration
	case "google.protobuf.FieldMask":
		return (*walker).fieldMask
	case "google.protobuf.Struct":
		return (*walker).structure
	case "google.protobuf.ListValue":
		return (*walker).listValue
	case "google.protobuf.Value":
		return (*walker).value
	case "google.protobuf.Empty":
		return (*walker).empty
	case "google.protobuf.BoolValue", "google.protobuf.StringValue", "google.protobuf.BytesValue",
		"google.protobuf.Int32Value", "google.protobuf.Int64Value", "google.protobuf.UInt32Value",
		"google.protobuf.UInt64Value", "google.protobuf.FloatValue", "google.protobuf.DoubleValue":
		return (*walker).wrapper
	}
	return nil
}

func hasOwnForm(name string) bool { return ownFormOf(protoreflect.FullName(name)) != nil }

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// get returns the field of a well-known message.
func get(m protoreflect.Message, name protoreflect.Name) (protoreflect.FieldDescriptor, protoreflect.Value) {
	fd := m.Descriptor().Fields().ByName(name)
	return fd, m.Get(fd)
}

func (w *walker) wrapper(m protoreflect.Message) (any, error) {
	fd, v := get(m, "value")
	return w.single(fd, v)
}

func (w *walker) empty(protoreflect.Message) (any, error) { return map[string]any{}, nil }

func (w *walker) structure(m protoreflect.Message) (any, error) {
	fd, v := get(m, "fields")
	return w.field(fd, v)
}

func (w *walker) listValue(m protoreflect.Message) (any, error) {
	fd, v := get(m, "values")
	return w.field(fd, v)
}

func (w *walker) value(m protoreflect.Message) (any, error) {
	fd := m.WhichOneof(m.Descriptor().Oneofs().ByName("kind"))
	if fd == nil {
		return nil, refuse(ErrMessage, w.path(), "a google.protobuf.Value without a kind")
	}
	return w.single(fd, m.Get(fd))
}

const (
	minTimestamp = -62135596800 // 0001-01-01T00:00:00Z
	maxTimestamp = 253402300799 // 9999-12-31T23:59:59Z
	maxDuration  = 315576000000
)

func (w *walker) timestamp(m protoreflect.Message) (any, error) {
	_, s := get(m, "seconds")
	_, n := get(m, "nanos")
	seconds, nanos := s.Int(), n.Int()
	if seconds < minTimestamp || seconds > maxTimestamp || nanos < 0 || nanos > 999_999_999 {
		return nil, refuse(canon.ErrRange, w.path(), "google.protobuf.Timestamp")
	}
	return time.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05") + fraction(nanos) + "Z", nil
}

func (w *walker) duration(m protoreflect.Message) (any, error) {
	_, s := get(m, "seconds")
	_, n := get(m, "nanos")
	seconds, nanos := s.Int(), n.Int()
	if seconds < -maxDuration || seconds > maxDuration || nanos < -999_999_999 || nanos > 999_999_999 ||
		seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 {
		return nil, refuse(canon.ErrRange, w.path(), "google.protobuf.Duration")
	}
	sign := ""
	if seconds < 0 || nanos < 0 {
		sign, seconds, nanos = "-", -seconds, -nanos
	}
	return fmt.Sprintf("%s%d%ss", sign, seconds, fraction(nanos)), nil
}

// fraction writes nanoseconds with 0, 3, 6 or 9 digits.
func fraction(nanos int64) string {
	if nanos == 0 {
		return ""
	}
	text := fmt.Sprintf(".%09d", nanos)
	text = strings.TrimSuffix(text, "000")
	return strings.TrimSuffix(text, "000")
}

// fieldMask joins the paths in lowerCamelCase. A path that could not be read back
// has no form.
func (w *walker) fieldMask(m protoreflect.Message) (any, error) {
	_, v := get(m, "paths")
	paths := make([]string, v.List().Len())
	for i := range paths {
		camel, ok := camelCase(v.List().Get(i).String())
		if !ok {
			return nil, refuse(ErrMessage, w.path(), "a path of google.protobuf.FieldMask")
		}
		paths[i] = camel
	}
	return strings.Join(paths, ","), nil
}

// camelCase returns false if the path has no lowerCamelCase of its own.
func camelCase(path string) (string, bool) {
	if !protoreflect.FullName(path).IsValid() {
		return "", false
	}
	var camel strings.Builder
	upper := false
	for _, c := range []byte(path) {
		switch {
		case 'A' <= c && c <= 'Z', upper && (c < 'a' || c > 'z'):
			return "", false
		case c == '_':
			upper = true
			continue
		case upper:
			c -= 'a' - 'A'
		}
		camel.WriteByte(c)
		upper = false
	}
	return camel.String(), !upper
}

// any expands the message that an Any holds.
func (w *walker) any(m protoreflect.Message) (any, error) {
	_, u := get(m, "type_url")
	_, v := get(m, "value")
	url := u.String()
	if url == "" {
		if len(v.Bytes()) > 0 {
			return nil, refuse(ErrMessage, w.path(), "a google.protobuf.Any without a type")
		}
		return map[string]any{}, nil
	}
	t, err := protoregistry.GlobalTypes.FindMessageByURL(url)
	if err != nil {
		return nil, unsure(ErrMessageType, w.path(), "a google.protobuf.Any")
	}
	inner, err := read(t, v.Bytes(), w.path())
	if err != nil {
		return nil, err
	}
	form, err := w.message(inner.ProtoReflect())
	if err != nil {
		return nil, err
	}
	if hasOwnForm(string(t.Descriptor().FullName())) {
		return map[string]any{"@type": url, "value": form}, nil
	}
	members := form.(map[string]any)
	members["@type"] = url
	return members, nil
}
