package payload_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/typepb"
	"pgregory.net/rapid"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
)

var nan, inf = math.NaN(), math.Inf(1)

// The forms of messages are written by code of ours. On the messages that both
// accept, protojson must say the same: it knows the mapping best.
func TestMessage_AgreesWithProtojson(t *testing.T) {
	t.Parallel()
	for _, m := range []proto.Message{
		&historypb.History{}, &commonpb.Memo{}, &commonpb.RetryPolicy{}, &descriptorpb.FileDescriptorProto{}, &typepb.Type{},
		&structpb.Struct{}, &structpb.Value{}, &timestamppb.Timestamp{}, &durationpb.Duration{}, &fieldmaskpb.FieldMask{}, &anypb.Any{},
	} {
		name := m.ProtoReflect().Descriptor().FullName()
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			agreed := 0
			rapid.Check(t, func(t *rapid.T) {
				r := m.ProtoReflect().New()
				fill(t, r, 4)
				// Any shows a message as our frame does.
				a, err := anypb.New(r.Interface())
				require.NoError(t, err)
				text, theirs := protojson.Marshal(a)
				ours, err := formOfMessage(r.Interface())
				if err != nil {
					if theirs == nil {
						require.ErrorIs(t, err, canon.ErrUnsafeFloat, "%s", text)
					}
					return
				}
				require.NoError(t, theirs, "%s", ours)
				want, err := canon.Text(nil, text)
				require.NoError(t, err)
				got := strings.Replace(ours, `"@encoding":"protobuf","@type":"`, `"@type":"type.googleapis.com/`, 1)
				require.Equal(t, string(want), got)
				agreed++
			})
			require.Greater(t, agreed, 20)
		})
	}
}

func formOfMessage(m proto.Message) (string, error) {
	values, err := payload.Args([]any{m})
	if err != nil {
		return "", err
	}
	text, err := canon.Value(nil, values[0])
	return string(text), err
}

// fill sets some fields of a message, of all kinds.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	if name := m.Descriptor().FullName(); name == "google.protobuf.Any" && rapid.Bool().Draw(t, "any") {
		inner := (&commonpb.WorkflowExecution{WorkflowId: "w"}).ProtoReflect()
		if rapid.Bool().Draw(t, "well-known") {
			inner = (&durationpb.Duration{Seconds: 3}).ProtoReflect()
		}
		a, err := anypb.New(inner.Interface())
		require.NoError(t, err)
		proto.Merge(m.Interface(), a)
		return
	}
	for i := range fields.Len() {
		fd := fields.Get(i)
		likely := 3
		if fields.Len() > 8 {
			likely = 1
		}
		if rapid.IntRange(0, 4).Draw(t, "set") >= likely && fd.Cardinality() != protoreflect.Required {
			continue
		}
		switch {
		case depth == 0 && (fd.Message() != nil):
		case fd.IsMap():
			entries := m.Mutable(fd).Map()
			for range rapid.IntRange(0, 3).Draw(t, "entries") {
				k := single(t, fd.MapKey(), nil, depth).MapKey()
				entries.Set(k, single(t, fd.MapValue(), entries.NewValue, depth))
			}
		case fd.IsList():
			list := m.Mutable(fd).List()
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				list.Append(single(t, fd, list.NewElement, depth))
			}
		default:
			m.Set(fd, single(t, fd, func() protoreflect.Value { return m.NewField(fd) }, depth))
		}
	}
}

func single(t *rapid.T, fd protoreflect.FieldDescriptor, empty func() protoreflect.Value, depth int) protoreflect.Value {
	text := rapid.OneOf(rapid.StringN(0, 5, -1), rapid.StringMatching(`[a-z_]{0,6}`), rapid.Just("a.b_c"))
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		v := empty()
		fill(t, v.Message(), depth-1)
		return v
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(rapid.Int32Range(-1, 12).Draw(t, "enum")))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(rapid.OneOf(rapid.Int32(), rapid.Int32Range(-1, 1000000000)).Draw(t, "int32"))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "uint32"))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(rapid.OneOf(rapid.Int64(), rapid.Int64Range(-62135596801, 253402300800)).Draw(t, "int64"))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, "uint64"))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(rapid.Float32().Draw(t, "float"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.OneOf(rapid.Float64(), rapid.Float64Range(-9, 9)).Draw(t, "double"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "bytes"))
	}
	return protoreflect.ValueOfString(text.Draw(t, "string"))
}
