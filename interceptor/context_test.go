package interceptor

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEncodingContext_IsTheJSONItIsReadAs(t *testing.T) {
	t.Parallel()
	for _, e := range []encodingContext{
		{},
		{Namespace: "n", WorkflowID: `w "1" <é>`, WorkflowType: "T", ActivityType: "A", TaskQueue: "q", Local: true},
	} {
		kept, err := e.bytes()
		require.NoError(t, err)
		var read encodingContext
		require.NoError(t, json.Unmarshal(kept, &read))
		require.Equal(t, e, read)
	}
	kept, err := encodingContext{WorkflowID: "plain", Local: true}.bytes()
	require.NoError(t, err)
	want, err := json.Marshal(encodingContext{WorkflowID: "plain", Local: true})
	require.NoError(t, err)
	require.Equal(t, string(want), string(kept), "records that are there were written so")
	_, err = encodingContext{WorkflowID: "\xff"}.bytes()
	require.NoError(t, err, "an ID that is not valid UTF-8 loses no result")
}
