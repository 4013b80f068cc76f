package testsuite_test

import "testing"

// What server 1.32.1 does differently must not matter: it refuses large results in
// another place, and lets a reset and the retry of a local activity take another way.
func TestServer132(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T){
		"WorkerKilled":                      TestWorkerKilled,
		"ResetAfterCompletion":              TestResetAfterCompletion,
		"ResetWhileTheActivityRuns":         TestResetWhileTheActivityRuns,
		"ResultThatCannotBeHandedOut":       TestResultThatCannotBeHandedOut,
		"LocalActivityBehindAFailingTask":   TestLocalActivityBehindAFailingWorkflowTask,
		"StartToCloseIsOver":                TestStartToCloseIsOverAndTheBodyStillRuns,
		"ReplayIsVerbatim":                  TestReplayIsVerbatim,
		"PendingActionCompletedFromOutside": TestPendingActionIsCompletedByTheOutsideSystem,
		"ActivityPausedOrResetByAnOperator": TestActivityPausedOrResetByAnOperator,
		"ResetOfAParentWithItsDescendants":  TestResetOfAParentWithChildrenAndGrandchildren,
		"ContinueAsNewAndResetsInTheChain":  TestContinueAsNewAndResetsInTheChain,
		"ScheduleTriggeredAndBackfilled":    TestScheduleTriggeredAndBackfilledTwice,
	} {
		t.Run(name, test)
	}
}
