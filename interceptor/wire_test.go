package interceptor

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func TestMarshal_IsWhatProtobufReads(t *testing.T) {
	t.Parallel()
	require.True(t, familiar, "Payload has a new field: marshal must write it")
	unknown := &commonpb.Payload{Data: []byte("x")}
	unknown.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 1))
	for name, p := range map[string]*commonpb.Payloads{
		"Nil":            nil,
		"None":           {},
		"EmptyPayload":   {Payloads: []*commonpb.Payload{{}}},
		"NoData":         {Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"encoding": []byte("binary/null")}}}},
		"NoMetadata":     {Payloads: []*commonpb.Payload{{Data: []byte{0, 255}}}},
		"EmptyMetadata":  {Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{"": nil, "a": {}, "b": []byte("c")}}}},
		"Several":        {Payloads: []*commonpb.Payload{{Data: []byte("1")}, {Data: []byte("2")}}},
		"LongLengths":    {Payloads: []*commonpb.Payload{{Metadata: map[string][]byte{strings.Repeat("n", 300): make([]byte, 20_000)}, Data: make([]byte, 3_000_000)}}},
		"StoredOutside":  {Payloads: []*commonpb.Payload{{ExternalPayloads: []*commonpb.Payload_ExternalPayloadDetails{{SizeBytes: 7}}}}},
		"UnknownField":   {Payloads: []*commonpb.Payload{unknown}},
		"NilAmongOthers": {Payloads: []*commonpb.Payload{{Data: []byte("1")}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := marshal(p)
			require.NoError(t, err)
			want, err := proto.Marshal(p)
			require.NoError(t, err)
			var got, same commonpb.Payloads
			require.NoError(t, proto.Unmarshal(data, &got))
			require.NoError(t, proto.Unmarshal(want, &same))
			require.True(t, proto.Equal(&same, &got), "got %v, want %v", &got, &same)
			require.Len(t, data, len(want))
		})
	}
}
