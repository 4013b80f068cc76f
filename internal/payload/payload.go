package payload

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/effectonce/effectonce/canon"
)

// encodingMember marks what stands for something that is not plain JSON.
const (
	encodingMember = "@encoding"
	encodingProto  = "protobuf"
)

// Args returns the arguments of an activity as values for canon. args is not
// changed; its elements may be part of the result.
func Args(args []any) ([]any, error) {
	if len(args) == 1 {
		if list, ok := args[0].(converter.EncodedValues); ok {
			return dynamic(list)
		}
	}
	out := make([]any, len(args))
	for i, arg := range args {
		v, err := argument(arg, "["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// Types returns the types of an activity's parameters as canon sees them: nil where
// Args puts something else in their place, which only a value shows.
func Types(types []reflect.Type) []reflect.Type {
	out := make([]reflect.Type, len(types))
	for i, t := range types {
		switch {
		case t == nil, t.Kind() == reflect.Interface:
		case t == rawType, t == reflect.PointerTo(rawType):
		case t.Implements(messageType), reflect.PointerTo(t).Implements(messageType):
		default:
			out[i] = t
		}
	}
	return out
}

var (
	messageType = reflect.TypeFor[proto.Message]()
	rawType     = reflect.TypeFor[converter.RawValue]()
	legacyType  = reflect.TypeFor[interface {
		Reset()
		ProtoMessage()
	}]()
)

// argument returns what stands for one argument.
func argument(arg any, path string) (any, error) {
	switch a := arg.(type) {
	case nil:
		return nil, nil
	case converter.RawValue:
		return one(a.Payload(), path)
	case *converter.RawValue:
		if a == nil {
			return nil, nil
		}
		return one(a.Payload(), path)
	case *commonpb.Payload:
		if a == nil {
			return nil, nil
		}
		return one(a, path)
	case *commonpb.Payloads:
		if a == nil {
			return nil, nil
		}
		return list(a, path)
	case proto.Message:
		return message(a, path)
	}
	switch t := reflect.TypeOf(arg); kindOf(t) {
	case messageByValue:
		p := reflect.New(t)
		p.Elem().Set(reflect.ValueOf(arg))
		return argument(p.Interface(), path)
	case legacyMessage:
		return nil, refuse(ErrMessage, path, "generated for an API without reflection, which hides unknown fields: generate it anew")
	}
	return arg, nil
}

// kind is what the type of an argument is, besides what its value says.
type kind int

const (
	plainValue kind = iota
	messageByValue
	legacyMessage // of protobuf's first Go API, or of gogo
)

var kinds sync.Map // by type: to look for methods takes longer than to write most arguments

func kindOf(t reflect.Type) kind {
	if k, ok := kinds.Load(t); ok {
		return k.(kind)
	}
	k := plainValue
	isStruct := t.Kind() == reflect.Struct
	switch {
	case isStruct && reflect.PointerTo(t).Implements(messageType):
		k = messageByValue
	case t.Implements(legacyType), isStruct && reflect.PointerTo(t).Implements(legacyType):
		k = legacyMessage
	}
	kinds.Store(t, k)
	return k
}

// dynamic returns the arguments of a dynamic activity. They pass through the data
// converter, which undoes its codecs.
func dynamic(values converter.EncodedValues) ([]any, error) {
	if !values.HasValues() {
		return []any{}, nil
	}
	payloads := converter.GetPayloads(values).GetPayloads()
	raw := make([]converter.RawValue, len(payloads))
	into := make([]any, len(payloads))
	for i := range raw {
		into[i] = &raw[i]
	}
	if err := values.Get(into...); err != nil {
		return nil, fmt.Errorf("arguments of a dynamic activity, as raw values: %w", err)
	}
	out := make([]any, len(payloads))
	for i := range raw {
		var err error
		if out[i], err = one(raw[i].Payload(), "["+strconv.Itoa(i)+"]"); err != nil {
			return nil, err
		}
	}
	if n := len(out); n > 0 && out[n-1] == nil {
		out[n-1] = map[string]any{encodingMember: converter.MetadataEncodingNil}
	}
	return out, nil
}

// list returns what stands for several payloads in one argument.
func list(payloads *commonpb.Payloads, path string) (any, error) {
	if hasUnknown(payloads) {
		return nil, unsure(ErrUnknownField, path, "temporal.api.common.v1.Payloads")
	}
	out := make([]any, len(payloads.GetPayloads()))
	for i, p := range payloads.GetPayloads() {
		v, err := one(p, path+"["+strconv.Itoa(i)+"]")
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// one returns what stands for one payload: nil for null.
func one(p *commonpb.Payload, path string) (any, error) {
	switch {
	case p == nil:
		return nil, unsure(ErrEncoding, path, "a raw value without a payload")
	case hasUnknown(p):
		return nil, unsure(ErrUnknownField, path, "temporal.api.common.v1.Payload")
	case len(p.GetExternalPayloads()) > 0:
		return nil, unsure(ErrEncoding, path, "the payload is stored elsewhere and was not fetched")
	}
	switch encoding := string(p.GetMetadata()[converter.MetadataEncoding]); encoding {
	case converter.MetadataEncodingNil:
		return nil, nil
	case converter.MetadataEncodingJSON:
		return plainJSON(p.GetData(), path)
	case converter.MetadataEncodingBinary:
		return map[string]any{
			encodingMember: encoding,
			"data":         base64.StdEncoding.EncodeToString(p.GetData()),
		}, nil
	case converter.MetadataEncodingProtoJSON:
		return protoJSON(p, path)
	case converter.MetadataEncodingProto:
		return protoBinary(p, path)
	case "":
		return nil, unsure(ErrEncoding, path, "the payload names none")
	default:
		return nil, unsure(ErrEncoding, path, strconv.QuoteToASCII(encoding)+
			": configure the data converter or codec that undoes it on this worker")
	}
}

func hasUnknown(m proto.Message) bool { return len(m.ProtoReflect().GetUnknown()) > 0 }

// canonical returns the canonical form of a payload's text; nil for null.
func canonical(data []byte, path string) (json.RawMessage, error) {
	text, err := canon.Text(nil, data)
	if err != nil {
		return nil, at(path, err)
	}
	if string(text) == "null" {
		return nil, nil
	}
	return text, nil
}

// plainJSON returns the text itself, unless it could be mistaken for what stands
// for another encoding.
func plainJSON(data []byte, path string) (any, error) {
	text, err := canonical(data, path)
	switch {
	case err != nil:
		return nil, err
	case text == nil:
		return nil, nil
	case isMarked(text):
		return map[string]any{encodingMember: converter.MetadataEncodingJSON, "value": text}, nil
	}
	return text, nil
}

// isMarked reports whether a canonical text is an object with the marking member.
func isMarked(text []byte) bool {
	if text[0] != '{' || !bytes.Contains(text, []byte(`"`+encodingMember+`":`)) {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return true // not possible: it is canonical
	}
	_, ok := members[encodingMember]
	return ok
}

// at puts a path in front of an error of canon.
func at(path string, err error) error {
	if e, ok := err.(*canon.Error); ok { //nolint:errorlint // it has just been made, and is not shared
		e.Path = path + e.Path
	}
	return err
}
