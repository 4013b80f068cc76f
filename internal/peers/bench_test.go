package peers

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"

	"github.com/effectonce/effectonce/canon"
)

// refund is a small tool call, about 230 bytes.
type refund struct {
	PaymentID string            `json:"payment_id"`
	Amount    int64             `json:"amount"`
	Currency  string            `json:"currency"`
	Reason    string            `json:"reason"`
	Notify    bool              `json:"notify"`
	Metadata  map[string]string `json:"metadata"`
}

// order is a larger one, about 4 KB.
type order struct {
	ID       string            `json:"id"`
	Customer customer          `json:"customer"`
	Lines    []line            `json:"lines"`
	Tags     []string          `json:"tags"`
	Labels   map[string]string `json:"labels"`
	Note     string            `json:"note"`
	Refund   refund            `json:"refund"`
}

type customer struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Tier  int    `json:"tier"`
}

type line struct {
	SKU        string            `json:"sku"`
	Title      string            `json:"title"`
	Quantity   int               `json:"quantity"`
	Cents      int64             `json:"cents"`
	Weight     float64           `json:"weight"`
	Gift       bool              `json:"gift"`
	Attributes map[string]string `json:"attributes"`
}

func newRefund() refund {
	return refund{
		PaymentID: "pay_1746030112345678901", Amount: 4999, Currency: "EUR",
		Reason: "Customer reported a duplicate charge on the card", Notify: true,
		Metadata: map[string]string{"order": "A-1029", "agent": "support-7", "channel": "chat"},
	}
}

func newOrder() order {
	o := order{
		ID:       "ord_1746030112345678902",
		Customer: customer{"Zoë Müller", "zoe@example.com", 3},
		Tags:     []string{"express", "fragile", "gift", "returning"},
		Labels:   map[string]string{"region": "eu-central", "source": "agent", "campaign": "spring", "team": "support"},
		Note:     "Please ring twice.\nLeave the parcel at the \"blue door\" if nobody answers.",
		Refund:   newRefund(),
	}
	for i := range 20 {
		o.Lines = append(o.Lines, line{
			SKU: fmt.Sprintf("SKU-%05d", i*7919), Title: "Stainless steel water bottle, " + strings.Repeat("x", i%7),
			Quantity: i%5 + 1, Cents: int64(i*137 + 99), Weight: 0.25 * float64(i+1), Gift: i%3 == 0,
			Attributes: map[string]string{"color": "blue", "volume": "0.5 l", "steel": "18/8"},
		})
	}
	return o
}

// reading is a row of a document of about 256 KB, mostly doubles of 17 digits.
type reading struct {
	Sensor  string    `json:"sensor"`
	Value   float64   `json:"value"`
	Unit    string    `json:"unit"`
	OK      bool      `json:"ok"`
	History []float64 `json:"history"`
	At      int64     `json:"at"`
}

func newReadings() []reading {
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]reading, 1720)
	for i := range rows {
		rows[i] = reading{
			Sensor: fmt.Sprintf("sensor %d", i%97), Value: r.Float64() * 1000, Unit: "kPa", OK: i%11 != 0,
			History: []float64{float64(r.IntN(100)), float64(r.IntN(4000)) / 4, float64(r.IntN(100000)) / 100}, At: 1746030112345 + int64(i),
		}
	}
	return rows
}

// text writes v as a program in another language might: members in the order of
// their declaration, a space after each comma and colon.
func text(v any) []byte {
	packed, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var b []byte
	quoted := false
	for i, c := range packed {
		b = append(b, c)
		if c == '"' && packed[i-1] != '\\' {
			quoted = !quoted
		}
		if !quoted && (c == ',' || c == ':') {
			b = append(b, ' ')
		}
	}
	return b
}

func BenchmarkText(b *testing.B) {
	for _, doc := range []struct {
		name string
		text []byte
	}{{"200B", text(newRefund())}, {"4KB", text(newOrder())}, {"256KB", text(newReadings())}} {
		form, err := canon.Text(nil, doc.text)
		if err != nil {
			b.Fatal(err)
		}
		run := func(name string, f func() error) {
			b.Run("size="+doc.name+"/by="+name, func(b *testing.B) {
				b.SetBytes(int64(len(doc.text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		var buf []byte
		run("canon", func() (err error) {
			buf, err = canon.Text(buf[:0], doc.text)
			return err
		})
		run("canon+sha256", func() (err error) {
			buf, err = canon.Text(buf[:0], doc.text)
			sha256.Sum256(buf)
			return err
		})
		run("canon again", func() (err error) {
			buf, err = canon.Text(buf[:0], form)
			return err
		})
		var value jsontext.Value
		run("jsontext", func() error {
			value = append(value[:0], doc.text...)
			return value.Canonicalize()
		})
		run("gowebpki", func() error {
			_, err := jcs.Transform(doc.text)
			return err
		})
		run("json.Valid", func() error {
			if !json.Valid(doc.text) {
				return fmt.Errorf("invalid")
			}
			return nil
		})
		run("sha256", func() error {
			sha256.Sum256(form)
			return nil
		})
	}
}

func BenchmarkValue(b *testing.B) {
	generic := func(v any) any {
		var g any
		if err := json.Unmarshal(text(v), &g); err != nil {
			b.Fatal(err)
		}
		return g
	}
	for _, doc := range []struct {
		name  string
		value any
	}{
		{"200B struct", newRefund()}, {"4KB struct", newOrder()}, {"256KB struct", newReadings()},
		{"200B any", generic(newRefund())}, {"4KB any", generic(newOrder())}, {"256KB any", generic(newReadings())},
	} {
		run := func(name string, f func() error) {
			b.Run("value="+doc.name+"/by="+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		var buf []byte
		run("canon", func() (err error) {
			buf, err = canon.Value(buf[:0], doc.value)
			return err
		})
		run("canon+sha256", func() (err error) {
			buf, err = canon.Value(buf[:0], doc.value)
			sha256.Sum256(buf)
			return err
		})
		run("canon.Split", func() error {
			_, err := canon.Fields{}.Split([]any{doc.value})
			return err
		})
		run("json.Marshal", func() error {
			_, err := json.Marshal(doc.value)
			return err
		})
		run("json.Marshal+gowebpki", func() error {
			m, err := json.Marshal(doc.value)
			if err == nil {
				_, err = jcs.Transform(m)
			}
			return err
		})
	}
}
