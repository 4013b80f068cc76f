package payload

import (
	"encoding/json"
	"strconv"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/effectonce/effectonce/canon"
)

// message returns what stands for a message; nil for a nil pointer.
func message(m proto.Message, path string) (any, error) {
	r := m.ProtoReflect()
	if !r.IsValid() {
		return nil, nil
	}
	w := walker{root: path}
	form, err := w.message(r)
	if err != nil {
		return nil, err
	}
	name := string(r.Descriptor().FullName())
	if hasOwnForm(name) {
		return map[string]any{encodingMember: encodingProto, "@type": name, "value": form}, nil
	}
	members := form.(map[string]any)
	members[encodingMember], members["@type"] = encodingProto, name
	return members, nil
}

// protoJSON returns what stands for the text of a message, without reading it as
// one.
func protoJSON(p *commonpb.Payload, path string) (any, error) {
	text, err := canonical(p.GetData(), path)
	if err != nil || text == nil {
		return nil, err
	}
	name := string(p.GetMetadata()[converter.MetadataMessageType])
	switch {
	case name == "":
		return nil, unsure(ErrMessageType, path, "the payload names none")
	case hasOwnForm(name):
		return map[string]any{encodingMember: encodingProto, "@type": name, "value": text}, nil
	case text[0] != '{':
		return nil, refuse(ErrMessage, path, "the text of a message is not an object")
	}
	quoted, err := canon.Value(nil, name)
	if err != nil {
		return nil, at(path, err)
	}
	out := append([]byte(`{"`+encodingMember+`":"`+encodingProto+`","@type":`), quoted...)
	if len(text) > len("{}") {
		out = append(out, ',')
	}
	// A text that has one of these members itself is refused as a duplicate.
	out, err = canon.Text(nil, append(out, text[1:]...))
	if err != nil {
		return nil, at(path, err)
	}
	return json.RawMessage(out), nil
}

// protoBinary returns what stands for the message that a payload holds.
func protoBinary(p *commonpb.Payload, path string) (any, error) {
	name := string(p.GetMetadata()[converter.MetadataMessageType])
	if name == "" {
		return nil, unsure(ErrMessageType, path, "the payload names none")
	}
	t, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(name))
	if err != nil {
		return nil, unsure(ErrMessageType, path, strconv.QuoteToASCII(name))
	}
	m, err := read(t, p.GetData(), path)
	if err != nil {
		return nil, err
	}
	return message(m, path)
}

func read(t protoreflect.MessageType, data []byte, path string) (proto.Message, error) {
	m := t.New().Interface()
	if err := proto.Unmarshal(data, m); err != nil {
		return nil, refuse(ErrMessage, path, "it cannot be read as "+string(t.Descriptor().FullName()))
	}
	return m, nil
}

// Limits of one message. canon has the same depth; and Temporal's largest payload,
// of 2 MiB, holds no more values.
const (
	maxDepth  = 1000
	maxValues = 2 << 20
)

// walker reads a message into maps, lists and scalars, by protobuf's JSON mapping.
type walker struct {
	root   string
	steps  []step // from root to the current value
	depth  int
	values int
}

// step is one of a path: a field's name, or else an element's index.
type step struct {
	field protoreflect.Name
	index int
}

// anyKey is the index of every map entry: keys are content.
const anyKey = -1

// path says where the current value is.
func (w *walker) path() string {
	path := w.root
	for _, s := range w.steps {
		switch {
		case s.field != "":
			path += "." + string(s.field)
		case s.index == anyKey:
			path += "[*]"
		default:
			path += "[" + strconv.Itoa(s.index) + "]"
		}
	}
	return path
}

func (w *walker) enter(s step) { w.steps = append(w.steps, s) }

func (w *walker) leave() { w.steps = w.steps[:len(w.steps)-1] }

// count is called for every value; it ends messages that are reached over and over.
func (w *walker) count() error {
	if w.values++; w.values > maxValues {
		return refuse(canon.ErrSize, w.path(), "message")
	}
	return nil
}

// message returns the JSON form of a message.
func (w *walker) message(m protoreflect.Message) (any, error) {
	if w.depth++; w.depth > maxDepth {
		return nil, refuse(canon.ErrDepth, w.path(), "message")
	}
	defer func() { w.depth-- }()
	if err := w.count(); err != nil {
		return nil, err
	}
	name := m.Descriptor().FullName()
	if len(m.GetUnknown()) > 0 {
		return nil, unsure(ErrUnknownField, w.path(), string(name))
	}
	if own := ownFormOf(name); own != nil {
		return own(w, m)
	}
	return w.members(m)
}

// members returns the fields of a message that are set.
func (w *walker) members(m protoreflect.Message) (map[string]any, error) {
	members := map[string]any{}
	var err error
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := fd.JSONName()
		if fd.IsExtension() {
			name = "[" + string(fd.FullName()) + "]"
		}
		if _, twice := members[name]; twice || name == encodingMember || name == "@type" {
			err = refuse(canon.ErrDuplicate, w.path(), "JSON name")
			return false
		}
		w.enter(step{field: fd.Name()})
		members[name], err = w.field(fd, v)
		w.leave()
		return err == nil
	})
	return members, err
}

func (w *walker) field(fd protoreflect.FieldDescriptor, v protoreflect.Value) (any, error) {
	var err error
	switch {
	case fd.IsList():
		list := v.List()
		out := make([]any, list.Len())
		for i := range out {
			w.enter(step{index: i})
			out[i], err = w.single(fd, list.Get(i))
			w.leave()
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	case fd.IsMap():
		out := map[string]any{}
		v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
			w.enter(step{index: anyKey})
			out[k.String()], err = w.single(fd.MapValue(), v)
			w.leave()
			return err == nil
		})
		return out, err
	}
	return w.single(fd, v)
}

// single returns one value that is neither a list nor a map. Floats stay Go floats:
// canon refuses those that may have been rounded before.
func (w *walker) single(fd protoreflect.FieldDescriptor, v protoreflect.Value) (any, error) {
	if err := w.count(); err != nil {
		return nil, err
	}
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return w.message(v.Message())
	case protoreflect.EnumKind:
		return enum(fd.Enum(), v.Enum()), nil
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return strconv.FormatInt(v.Int(), 10), nil
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return strconv.FormatUint(v.Uint(), 10), nil
	case protoreflect.FloatKind:
		return float32(v.Float()), nil
	case protoreflect.BytesKind:
		return base64Text(v.Bytes()), nil
	}
	return v.Interface(), nil // bool, string, 32-bit integers, double
}

// enum returns the name of an enum's value, or its number if it has none.
func enum(ed protoreflect.EnumDescriptor, n protoreflect.EnumNumber) any {
	if ed.FullName() == "google.protobuf.NullValue" {
		return nil
	}
	if v := ed.Values().ByNumber(n); v != nil {
		return string(v.Name())
	}
	return int32(n)
}
