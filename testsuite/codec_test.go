package testsuite_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// sealing is a codec that encrypts with AES-GCM under a random nonce: the same
// payload is never the same bytes twice. With bound it ties them to a workflow ID.
// It encrypts with its first key, and decrypts with any.
type sealing struct {
	keys     []cipher.AEAD
	bound    bool
	workflow string
}

var _ converter.PayloadCodecWithSerializationContext = (*sealing)(nil)

func newSealing(bound bool, keys ...string) converter.DataConverter {
	if len(keys) == 0 {
		keys = []string{"key"}
	}
	s := &sealing{bound: bound}
	for _, k := range keys {
		sum := sha256.Sum256([]byte(k))
		block, err := aes.NewCipher(sum[:])
		if err != nil {
			panic(err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			panic(err)
		}
		s.keys = append(s.keys, aead)
	}
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), s)
}

func (s *sealing) WithSerializationContext(ctx converter.SerializationContext) converter.PayloadCodec {
	c := *s
	switch ctx := ctx.(type) {
	case converter.WorkflowSerializationContext:
		c.workflow = ctx.WorkflowID
	case converter.ActivitySerializationContext:
		c.workflow = ctx.WorkflowID
	}
	return &c
}

func (s *sealing) additional() []byte {
	if !s.bound {
		return nil
	}
	return []byte(s.workflow)
}

func (s *sealing) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	sealed := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		data, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, s.keys[0].NonceSize())
		rand.Read(nonce) // never fails
		sealed[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte("binary/sealed")},
			Data:     s.keys[0].Seal(nonce, nonce, data, s.additional()),
		}
	}
	return sealed, nil
}

func (s *sealing) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	open := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		n := s.keys[0].NonceSize()
		if string(p.GetMetadata()[converter.MetadataEncoding]) != "binary/sealed" || len(p.GetData()) < n {
			open[i] = p // was not sealed, such as the null of a workflow without a result
			continue
		}
		data, err := s.open(p.GetData()[:n], p.GetData()[n:])
		if err != nil {
			return nil, errors.New("sealed for another workflow, with another key, or damaged")
		}
		open[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(data, open[i]); err != nil {
			return nil, err
		}
	}
	return open, nil
}

func (s *sealing) open(nonce, sealed []byte) (data []byte, err error) {
	for _, k := range s.keys {
		if data, err = k.Open(nil, nonce, sealed, s.additional()); err == nil {
			return data, nil
		}
	}
	return nil, err
}
