package interceptor

import (
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Field numbers of Payloads, Payload and an entry of Payload's map.
const (
	fieldPayloads = 1
	fieldMetadata = 1
	fieldData     = 2
	fieldKey      = 1
	fieldValue    = 2
)

// familiar says that the messages of this build have no fields but those that were
// there when this was written. A later version's would be lost here.
var familiar = countFields(&commonpb.Payloads{}) == 1 && countFields(&commonpb.Payload{}) == 3

func countFields(m proto.Message) int { return m.ProtoReflect().Descriptor().Fields().Len() }

// marshal returns the bytes of payloads as proto.Marshal does, which goes through
// reflection for every map and takes several times as long as everything else about a
// small result. What has more than metadata and data is left to it.
func marshal(payloads *commonpb.Payloads) ([]byte, error) {
	if !familiar || hasUnknown(payloads) {
		return proto.Marshal(payloads)
	}
	size := 0
	for _, p := range payloads.GetPayloads() {
		if p == nil || len(p.GetExternalPayloads()) > 0 || hasUnknown(p) {
			return proto.Marshal(payloads)
		}
		size += protowire.SizeTag(fieldPayloads) + protowire.SizeBytes(sizeOf(p))
	}
	out := make([]byte, 0, size)
	for _, p := range payloads.GetPayloads() {
		out = protowire.AppendTag(out, fieldPayloads, protowire.BytesType)
		out = protowire.AppendVarint(out, uint64(sizeOf(p)))
		for name, value := range p.GetMetadata() {
			out = protowire.AppendTag(out, fieldMetadata, protowire.BytesType)
			out = protowire.AppendVarint(out, uint64(sizeOfEntry(name, value)))
			out = protowire.AppendTag(out, fieldKey, protowire.BytesType)
			out = protowire.AppendString(out, name)
			out = protowire.AppendTag(out, fieldValue, protowire.BytesType)
			out = protowire.AppendBytes(out, value)
		}
		if len(p.GetData()) > 0 {
			out = protowire.AppendTag(out, fieldData, protowire.BytesType)
			out = protowire.AppendBytes(out, p.GetData())
		}
	}
	return out, nil
}

func sizeOf(p *commonpb.Payload) (size int) {
	for name, value := range p.GetMetadata() {
		size += protowire.SizeTag(fieldMetadata) + protowire.SizeBytes(sizeOfEntry(name, value))
	}
	if n := len(p.GetData()); n > 0 {
		size += protowire.SizeTag(fieldData) + protowire.SizeBytes(n)
	}
	return size
}

func sizeOfEntry(name string, value []byte) int {
	return protowire.SizeTag(fieldKey) + protowire.SizeBytes(len(name)) + protowire.SizeTag(fieldValue) + protowire.SizeBytes(len(value))
}

func hasUnknown(m proto.Message) bool { return len(m.ProtoReflect().GetUnknown()) > 0 }
