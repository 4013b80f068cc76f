// Package testsuite proves effectonce end to end: on a real Temporal server, with
// real stores, by counting what happened at a provider that is reached over HTTP.
//
// Every row below is a way to an effect that happens twice, or never, or is told
// wrongly. The tests are in the files of the package; each fails if the part of the
// interceptor that it is about is taken out.
//
// # The answer got lost, or the attempt ran out of time
//
//	connection closed, reset, cut short, 502 after the effect  TestLostAnswer
//	StartToClose is over, the body still runs                  TestStartToCloseIsOverAndTheBodyStillRuns
//	success after the deadline, which the SDK throws away      TestSuccessAfterTheDeadlineIsRecordedAndReplayed
//	waiting for another attempt eats the retries               TestWaitingForAnotherDoesNotBurnAttempts
//	the workflow retries by hand                               TestRetryByHandAfterALostAnswer
//	panic after the effect                                     TestPanicAfterTheEffect
//
// # The worker died
//
//	SIGKILL after the record, before Temporal hears            TestWorkerKilled/*/AfterTheRecordBeforeTemporalHears
//	SIGKILL between claim and effect                           TestWorkerKilled/*/BetweenClaimAndEffect
//	SIGKILL between effect and record                          TestWorkerKilled/*/BetweenEffectAndRecord
//
// # The workflow was run again
//
//	reset after completion, reset of a reset, halfway reset    TestResetAfterCompletion
//	reset while the activity runs                              TestResetWhileTheActivityRuns
//	reset of a parent: children, twins, grandchildren          TestResetOfAParentWithChildrenAndGrandchildren
//	continue-as-new, and resets of each run of the chain       TestContinueAsNewAndResetsInTheChain
//	three equal reminders on purpose, then a reset             TestThreeEqualRemindersAndAReset
//	two wishes for the same thing in one run                   TestTwoIntentsInOneRun
//	the same workflow ID again                                 TestScopeOverRunsOfOneWorkflowID
//	scope Workflow in a child whose ID a reset changes         TestWorkflowScopeInAChildWithAGeneratedID
//	a workflow task fails after a local activity               TestLocalActivityBehindAFailingWorkflowTask
//
// # Two asked for the same
//
//	two agents at the same instant, reworded                   TestTwoWorkflowsOfATenantAtTheSameInstant
//	order IDs that differ in the 19th digit                    TestTwoWorkflowsOfATenantAtTheSameInstant
//	delivered twice, to two workers                            TestDuplicateDelivery
//	200 at once, four connections                              TestRaceOfActivities, TestRaceOfWorkers
//	one key with two amounts                                   TestOneActionIDWithTwoAmounts
//
// # The result
//
//	replayed bytes differ, are encoded twice, or leak          TestReplayIsVerbatim
//	it cannot be encoded, or Temporal refuses its size         TestResultThatCannotBeHandedOut
//	a final failure loses its type or details                  TestFinalFailureIsReplayed
//	declined, fixed, reset                                     TestDeclinedThenFixedThenReset
//
// # Something is missing or broken
//
//	store down before the effect                               TestStoreDownAtTheClaim
//	store down after the effect                                TestStoreDownAtTheRecord
//	a record that cannot be read                               TestCorruptRecord
//	no header: the workflow's worker is not instrumented       TestActivityScheduledWithoutAHeader
//	a header of a newer version, or garbage                    TestHeaderOfANewerVersionOrGarbage
//	roll-out and roll-back with open workflows                 TestHistoriesReplayWithAndWithoutTheInterceptor
//	input without a canonical form                             TestInputThatCannotBeCanonicalised
//	no tenant                                                  TestTenantIsMissing
//
// The tests need a Temporal server and PostgreSQL; see internal/services.
package testsuite
