package canon_test

import (
	"crypto/sha256"
	"encoding/json"
	"testing"

	"github.com/effectonce/effectonce/canon"
)

// The comparison with other implementations is in internal/peers.

var call = []byte(`{"tool": "refund_payment", "args": {"payment_id": "pay_1746030112345678901", "amount": 4999, ` +
	`"currency": "EUR", "reason": "duplicate charge", "notify": true, "metadata": {"order": "A-1029", "agent": "support-7"}}}`)

func BenchmarkText(b *testing.B) {
	b.SetBytes(int64(len(call)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = canon.Text(buf[:0], call)
	}
}

func BenchmarkValue(b *testing.B) {
	var generic any
	if err := json.Unmarshal(call, &generic); err != nil {
		b.Fatal(err)
	}
	for name, v := range map[string]any{
		"any":    generic,
		"struct": refund{Order: "A-1029", Amount: 4999, Reason: "duplicate charge", Lines: []refundLine{{SKU: "a"}, {SKU: "b"}}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf, _ = canon.Value(buf[:0], v)
			}
		})
		b.Run(name+"/sha256", func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf, _ = canon.Value(buf[:0], v)
				sha256.Sum256(buf)
			}
		})
	}
}

func BenchmarkSplit(b *testing.B) {
	args := []any{refund{Order: "A-1029", Amount: 4999, Reason: "duplicate charge"}}
	for name, fields := range map[string]canon.Fields{
		"tags":     {},
		"ignore":   {Ignore: []string{"/0/reason"}},
		"identity": {Identity: []string{"/0/order"}, Check: []string{"/0/amount"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fields.Split(args); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
