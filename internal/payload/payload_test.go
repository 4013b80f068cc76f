package payload_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/effectonce/effectonce/canon"
	"github.com/effectonce/effectonce/internal/payload"
)

// form returns the canonical form of arguments.
func form(t *testing.T, args ...any) string {
	t.Helper()
	values, err := payload.Args(args)
	require.NoError(t, err)
	split, err := canon.Fields{}.Split(values)
	require.NoError(t, err)
	return string(split.Identity)
}

// refusal returns the error for one argument, from either step.
func refusal(t *testing.T, arg any) error {
	t.Helper()
	values, err := payload.Args([]any{arg})
	if err == nil {
		_, err = canon.Value(nil, values)
	}
	require.Error(t, err)
	return err
}

func of(encoding, data string, messageType ...string) *commonpb.Payload {
	p := &commonpb.Payload{Data: []byte(data), Metadata: map[string][]byte{"encoding": []byte(encoding)}}
	if len(messageType) > 0 {
		p.Metadata["messageType"] = []byte(messageType[0])
	}
	return p
}

func raw(encoding, data string, messageType ...string) converter.RawValue {
	return converter.NewRawValue(of(encoding, data, messageType...))
}

func list(payloads ...*commonpb.Payload) *commonpb.Payloads {
	return &commonpb.Payloads{Payloads: payloads}
}

const execution = "temporal.api.common.v1.WorkflowExecution"

func TestArgs_Forms(t *testing.T) {
	t.Parallel()
	binary, err := proto.Marshal(&commonpb.WorkflowExecution{WorkflowId: "w"})
	require.NoError(t, err)
	pointer := raw("json/plain", "1")
	for name, c := range map[string]struct {
		arg  any
		want string
	}{
		"text":                       {raw("json/plain", ` { "b" : 1e2, "a" : 1746030112345678901 } `), `[{"a":1746030112345678901,"b":100}]`},
		"pointer to raw value":       {&pointer, `[1]`},
		"nil pointer to raw value":   {(*converter.RawValue)(nil), `[]`},
		"payload":                    {of("json/plain", `"x"`), `["x"]`},
		"nil payload":                {(*commonpb.Payload)(nil), `[]`},
		"null text":                  {raw("json/plain", " null "), `[]`},
		"binary null":                {raw("binary/null", ""), `[]`},
		"bytes":                      {raw("binary/plain", "{}"), `[{"@encoding":"binary/plain","data":"e30="}]`},
		"no bytes":                   {raw("binary/plain", ""), `[{"@encoding":"binary/plain","data":""}]`},
		"text that looks like it":    {raw("json/plain", `{"@encoding":"binary/plain","data":"e30="}`), `[{"@encoding":"json/plain","value":{"@encoding":"binary/plain","data":"e30="}}]`},
		"escaped member name":        {raw("json/plain", `{"\u0040encoding":1}`), `[{"@encoding":"json/plain","value":{"@encoding":1}}]`},
		"the name deeper inside":     {raw("json/plain", `{"a":{"@encoding":1}}`), `[{"a":{"@encoding":1}}]`},
		"the name as a value":        {raw("json/plain", `{"a":"\"@encoding\":"}`), `[{"a":"\"@encoding\":"}]`},
		"message as text":            {raw("json/protobuf", `{ "workflowId": "w" }`, execution), `[{"@encoding":"protobuf","@type":"` + execution + `","workflowId":"w"}]`},
		"empty message as text":      {raw("json/protobuf", `{}`, execution), `[{"@encoding":"protobuf","@type":"` + execution + `"}]`},
		"message not linked in":      {raw("json/protobuf", `{"a":1}`, "acme.Refund"), `[{"@encoding":"protobuf","@type":"acme.Refund","a":1}]`},
		"well-known as text":         {raw("json/protobuf", `"x"`, "google.protobuf.StringValue"), `[{"@encoding":"protobuf","@type":"google.protobuf.StringValue","value":"x"}]`},
		"null message":               {raw("json/protobuf", `null`), `[]`},
		"message in binary":          {raw("binary/protobuf", string(binary), execution), `[{"@encoding":"protobuf","@type":"` + execution + `","workflowId":"w"}]`},
		"message":                    {&commonpb.WorkflowExecution{WorkflowId: "w"}, `[{"@encoding":"protobuf","@type":"` + execution + `","workflowId":"w"}]`},
		"message by value":           {reflect.ValueOf(&commonpb.WorkflowExecution{WorkflowId: "w"}).Elem().Interface(), `[{"@encoding":"protobuf","@type":"` + execution + `","workflowId":"w"}]`},
		"nil message":                {(*commonpb.WorkflowExecution)(nil), `[]`},
		"several payloads":           {list(of("json/plain", "1"), of("binary/plain", "a"), of("binary/null", "")), `[[1,{"@encoding":"binary/plain","data":"YQ=="},null]]`},
		"no payloads":                {list(), `[[]]`},
		"nil payloads":               {(*commonpb.Payloads)(nil), `[]`},
		"structpb":                   {structure(t, map[string]any{"b": 1.5, "a": []any{nil, true, "x"}}), `[{"@encoding":"protobuf","@type":"google.protobuf.Struct","value":{"a":[null,true,"x"],"b":1.5}}]`},
		"a struct":                   {struct{ A int }{1}, `[{"A":1}]`},
		"bytes of a declared type":   {[]byte("hi"), `["aGk="]`},
		"nothing":                    {nil, `[]`},
		"any in message":             {anyOf(t, &wrapperspb.Int64Value{Value: 5}), `[{"@encoding":"protobuf","@type":"google.protobuf.Any","value":{"@type":"type.googleapis.com/google.protobuf.Int64Value","value":"5"}}]`},
		"any with fields in message": {anyOf(t, &commonpb.WorkflowType{Name: "n"}), `[{"@encoding":"protobuf","@type":"google.protobuf.Any","value":{"@type":"type.googleapis.com/temporal.api.common.v1.WorkflowType","name":"n"}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, form(t, c.arg))
		})
	}
}

func structure(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func anyOf(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	a, err := anypb.New(m)
	require.NoError(t, err)
	return a
}

func TestArgs_DifferentArgumentsHaveDifferentForms(t *testing.T) {
	t.Parallel()
	all := map[string]any{
		"text {}":               raw("json/plain", `{}`),
		"text of bytes {}":      raw("json/plain", `"e30="`),
		"bytes {}":              raw("binary/plain", `{}`),
		"text as bytes":         raw("json/plain", `{"@encoding":"binary/plain","data":"e30="}`),
		"text as text":          raw("json/plain", `{"@encoding":"json/plain","value":{}}`),
		"text as message":       raw("json/plain", `{"@encoding":"protobuf","@type":"a.A"}`),
		"message A":             raw("json/protobuf", `{}`, "a.A"),
		"message B":             raw("json/protobuf", `{}`, "a.B"),
		"message A with value":  raw("json/protobuf", `{"value":"x"}`, "a.A"),
		"string value":          raw("json/protobuf", `"x"`, "google.protobuf.StringValue"),
		"bytes value":           raw("json/protobuf", `"x"`, "google.protobuf.BytesValue"),
		"19 digits":             raw("json/plain", `{"id":1746030112345678901}`),
		"other 19 digits":       raw("json/plain", `{"id":1746030112345678902}`),
		"execution":             &commonpb.WorkflowExecution{WorkflowId: "w"},
		"wire-compatible type":  &commonpb.WorkflowType{Name: "w"},
		"other string":          wrapperspb.String("w"),
		"one payload in a list": list(of("json/plain", `{}`)),
		"list with null":        list(of("json/plain", `{}`), of("binary/null", "")),
		"no bytes":              raw("binary/plain", ``),
		"empty text":            raw("json/plain", `""`),
		"null":                  raw("binary/null", ``),
	}
	forms := map[string]string{}
	for name, arg := range all {
		f := form(t, arg)
		require.NotContains(t, forms, f, name)
		forms[f] = name
	}
}

func TestArgs_EqualArgumentsHaveOneForm(t *testing.T) {
	t.Parallel()
	typed := &commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"}
	for name, pair := range map[string][2]any{
		"spacing":                {raw("json/plain", `{"a":1,"b":[2]}`), raw("json/plain", "{\n \"b\": [ 2.0 ], \"a\":1e0}")},
		"other metadata":         {raw("json/plain", `1`), converter.NewRawValue(&commonpb.Payload{Data: []byte("1"), Metadata: map[string][]byte{"encoding": []byte("json/plain"), "trace": []byte("x")}})},
		"protojson spacing":      {raw("json/protobuf", `{"workflowId":"w", "runId":"r"}`, execution), raw("json/protobuf", `{"runId":"r","workflowId":"w"}`, execution)},
		"typed and its text":     {typed, raw("json/protobuf", `{"workflowId":"w","runId":"r"}`, execution)},
		"value and raw value":    {map[string]any{"a": 1}, raw("json/plain", `{"a":1}`)},
		"null text, binary null": {raw("json/plain", `null`), raw("binary/null", ``)},
	} {
		require.Equal(t, form(t, pair[0]), form(t, pair[1]), name)
	}
}

// Map entries come out of a message in another order each time.
func TestArgs_MapsOfMessagesHaveOneForm(t *testing.T) {
	t.Parallel()
	m := &commonpb.Memo{Fields: map[string]*commonpb.Payload{}}
	for _, name := range strings.Split("abcdefghijklmnopqrst", "") {
		m.Fields[name] = &commonpb.Payload{Data: []byte(name)}
	}
	want := form(t, m)
	for range 20 {
		require.Equal(t, want, form(t, proto.Clone(m)))
	}
}

func TestArgs_Refusals(t *testing.T) {
	t.Parallel()
	unknown := &commonpb.WorkflowExecution{WorkflowId: "w"}
	unknown.ProtoReflect().SetUnknown([]byte{0xf8, 0x07, 0x01}) // field 127
	inside := &commonpb.ActivityType{Name: "n"}
	inside.ProtoReflect().SetUnknown([]byte{0xf8, 0x07, 0x02})
	odd := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte("1")}
	odd.ProtoReflect().SetUnknown([]byte{0xf8, 0x07, 0x01})
	cycle := &structpb.ListValue{Values: []*structpb.Value{{}}}
	cycle.Values[0].Kind = &structpb.Value_ListValue{ListValue: cycle}
	shared := structpb.NewNullValue()
	for range 40 {
		shared = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{shared, shared}})
	}
	for name, c := range map[string]struct {
		arg    any
		reason error
		bad    bool // no other worker can know better
	}{
		"encrypted":                     {raw("binary/encrypted", "…"), payload.ErrEncoding, false},
		"no encoding":                   {converter.NewRawValue(&commonpb.Payload{Data: []byte("1")}), payload.ErrEncoding, false},
		"zero raw value":                {converter.RawValue{}, payload.ErrEncoding, false},
		"stored elsewhere":              {&commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, ExternalPayloads: []*commonpb.Payload_ExternalPayloadDetails{{SizeBytes: 1}}}, payload.ErrEncoding, false},
		"unknown field of a payload":    {odd, payload.ErrUnknownField, false},
		"text that is no JSON":          {raw("json/plain", "{"), canon.ErrSyntax, true},
		"text with a duplicate":         {raw("json/plain", `{"a":1,"a":2}`), canon.ErrDuplicate, true},
		"text with a rounded number":    {raw("json/plain", `9007199254740993.0`), canon.ErrLossy, true},
		"text without a message type":   {raw("json/protobuf", `{}`), payload.ErrMessageType, false},
		"message text with @type":       {raw("json/protobuf", `{"@type":"x"}`, "a.A"), canon.ErrDuplicate, true},
		"message text with @encoding":   {raw("json/protobuf", `{"@encoding":"x"}`, "a.A"), canon.ErrDuplicate, true},
		"message text that is a string": {raw("json/protobuf", `"x"`, "a.A"), payload.ErrMessage, true},
		"binary of an unknown type":     {raw("binary/protobuf", "", "acme.Refund"), payload.ErrMessageType, false},
		"binary without a type":         {raw("binary/protobuf", ""), payload.ErrMessageType, false},
		"binary that is cut":            {raw("binary/protobuf", "\x0a\x05w", execution), payload.ErrMessage, true},
		"binary with an unknown field":  {raw("binary/protobuf", "\xf8\x07\x01", execution), payload.ErrUnknownField, false},
		"unknown field":                 {unknown, payload.ErrUnknownField, false},
		"unknown field inside an Any":   {anyOf(t, inside), payload.ErrUnknownField, false},
		"Any of an unknown type":        {&anypb.Any{TypeUrl: "type.googleapis.com/acme.Refund"}, payload.ErrMessageType, false},
		"Any without a type":            {&anypb.Any{Value: []byte{1}}, payload.ErrMessage, true},
		"Any that is cut":               {&anypb.Any{TypeUrl: "type.googleapis.com/" + execution, Value: []byte{0x0a}}, payload.ErrMessage, true},
		"NaN":                           {wrapperspb.Double(nan), canon.ErrRange, true},
		"infinity":                      {wrapperspb.Float(float32(inf)), canon.ErrRange, true},
		"structpb snowflake":            {structure(t, map[string]any{"id": 1746030112345678901}), canon.ErrUnsafeFloat, true},
		"Value without a kind":          {&structpb.Value{}, payload.ErrMessage, true},
		"time out of range":             {&timestamppb.Timestamp{Seconds: 1 << 40}, canon.ErrRange, true},
		"cycle":                         {cycle, canon.ErrDepth, true},
		"shared 2^40 times":             {shared, canon.ErrSize, true},
		"message in a struct":           {struct{ M *commonpb.WorkflowType }{&commonpb.WorkflowType{}}, canon.ErrType, true},
		"messages in a list":            {[]*commonpb.WorkflowType{{}}, canon.ErrType, true},
		"message behind an interface":   {map[string]any{"m": &commonpb.WorkflowType{}}, canon.ErrType, true},
		"raw value in a struct":         {struct{ R converter.RawValue }{raw("json/plain", "1")}, canon.ErrMarshal, true},
		"message without reflection":    {&legacyMessage{Name: "n"}, payload.ErrMessage, true},
		"the same by value":             {legacyMessage{Name: "n"}, payload.ErrMessage, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refusal(t, c.arg)
			require.ErrorIs(t, err, c.reason)
			require.Equal(t, c.bad, errors.Is(err, canon.ErrRefused), err)
		})
	}
}

func TestArgs_ErrorsSayWhereAndNotWhat(t *testing.T) {
	t.Parallel()
	m := &commonpb.Memo{Fields: map[string]*commonpb.Payload{"secret": {Data: []byte("secret")}}}
	m.Fields["secret"].ProtoReflect().SetUnknown([]byte{0xf8, 0x07, 0x01})
	_, err := payload.Args([]any{1, m})
	require.EqualError(t, err, "protobuf message has fields unknown to this worker: temporal.api.common.v1.Payload, at [1].fields[*]")
	_, err = payload.Args([]any{1, list(of("json/plain", "1"), of("json/plain", `{"secret":}`))})
	require.EqualError(t, err, "canon: not exactly one JSON value: unexpected character, at [1][1], at byte 10")
	_, err = payload.Args([]any{raw("binary/encrypted", "secret")})
	require.EqualError(t, err, `payload encoding is not known: "binary/encrypted": configure the data converter or codec that undoes it on this worker, at [0]`)
}

// legacyMessage is as the first generators wrote them.
type legacyMessage struct {
	Name         string
	Unrecognized []byte `json:"-"`
}

func (m *legacyMessage) Reset()         { *m = legacyMessage{} }
func (m *legacyMessage) String() string { return m.Name }
func (*legacyMessage) ProtoMessage()    {}

func TestTypes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ  reflect.Type
		kept bool
	}{
		"struct":           {reflect.TypeFor[struct{ A int }](), true},
		"bytes":            {reflect.TypeFor[[]byte](), true},
		"raw value":        {reflect.TypeFor[converter.RawValue](), false},
		"pointer to raw":   {reflect.TypeFor[*converter.RawValue](), false},
		"payload":          {reflect.TypeFor[*commonpb.Payload](), false},
		"message":          {reflect.TypeFor[*commonpb.WorkflowType](), false},
		"message by value": {reflect.TypeFor[commonpb.WorkflowType](), false},
		"interface":        {reflect.TypeFor[any](), false},
		"unknown":          {nil, false},
	} {
		got := payload.Types([]reflect.Type{c.typ})
		if c.kept {
			require.Equal(t, []reflect.Type{c.typ}, got, name)
		} else {
			require.Equal(t, []reflect.Type{nil}, got, name)
		}
	}
}

func TestArgs_PathsLeadIntoTextAndMessages(t *testing.T) {
	t.Parallel()
	values, err := payload.Args([]any{
		raw("json/plain", `{"order":7,"note":"a"}`),
		&commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"},
		structure(t, map[string]any{"order": 7, "note": "b"}),
	})
	require.NoError(t, err)
	split, err := canon.Fields{Ignore: []string{"/0/note", "/1/runId", "/2/value/note"}}.Split(values)
	require.NoError(t, err)
	require.Equal(t, `[{"order":7},{"@encoding":"protobuf","@type":"`+execution+`","workflowId":"w"},`+
		`{"@encoding":"protobuf","@type":"google.protobuf.Struct","value":{"order":7}}]`, string(split.Identity))
	require.True(t, json.Valid(split.Identity))
}
