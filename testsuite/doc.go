// Package testsuite proves effectonce end to end: on a real Temporal server, with
// real stores, by counting what happened at a provider that is reached over HTTP.
//
// Every row below is a way to an effect that happens twice, or never, or is told
// wrongly, and the test that is about it; where no folder is named, it is in this
// package. Each fails if the part that it is about is taken out.
//
// # The answer got lost, or the attempt ran out of time
//
//	connection closed, reset, cut short, 502 after the effect  TestLostAnswer
//	StartToClose is over, the body still runs                  TestStartToCloseIsOverAndTheBodyStillRuns
//	success after the deadline, which the SDK throws away      TestSuccessAfterTheDeadlineIsRecordedAndReplayed
//	no heartbeat: a second attempt beside the first body       TestHeartbeatTimeoutWhileTheBodyRunsOn
//	late success of a body that was taken over                 TestLateSuccessAfterATakeOverIsRefused
//	a body that hangs, and comes back                          TestHungBody
//	waiting for another attempt eats the retries               TestWaitingForAnotherDoesNotBurnAttempts, TestFewAttempts
//	waiting wipes out the progress a body reported             TestProgressHeartbeatsSurviveAWaitingAttempt
//	the workflow retries by hand                               TestRetryByHandAfterALostAnswer
//	panic after the effect                                     TestPanicAfterTheEffect
//	panic in a goroutine of the body: the process dies         TestWorkerKilled
//	an error after the effect, marked or not                   interceptor TestCases_AnErrorAfterTheEffect
//	two failures, then a success                               interceptor TestCases_FailuresAndThenASuccess
//
// # The worker died, or was stopped
//
//	SIGKILL after the record, before Temporal hears            TestWorkerKilled/*/AfterTheRecordBeforeTemporalHears
//	SIGKILL between claim and effect                           TestWorkerKilled/*/BetweenClaimAndEffect
//	SIGKILL between effect and record                          TestWorkerKilled/*/BetweenEffectAndRecord
//	SIGKILL around the commit of rows beside the records       TestTransactional_WorkerKilled
//	SIGKILL in the middle of a batch that resumes              TestWorkerKilledInTheMiddleOfABatch
//	graceful shutdown cancels the body's context               TestGracefulShutdownCancelsTheBody
//	the owner dies, and its key is wedged for ever             TestWorkerKilled/*/*/HoldWaitsForAPerson; store/storetest
//
// # The workflow was run again
//
//	reset after completion, reset of a reset, halfway reset    TestResetAfterCompletion
//	run ID or activity ID in the key                           TestResetAfterCompletion
//	reset while the activity runs                              TestResetWhileTheActivityRuns
//	reset of a parent: children, twins, grandchildren          TestResetOfAParentWithChildrenAndGrandchildren
//	reset of a child                                           TestResetOfAChild
//	calls of update and signal handlers, and a reset           TestCallsOfHandlersAndAReset
//	continue-as-new, and resets of each run of the chain       TestContinueAsNewAndResetsInTheChain
//	schedule, trigger now, backfill of the same interval       TestScheduleTriggeredAndBackfilledTwice
//	cron tick                                                  TestCronTick
//	the workflow's own retry, a child's retry                  TestWorkflowRetry, TestChildRetryAndAResetOfTheParent
//	three equal reminders on purpose, then a reset             TestThreeEqualRemindersAndAReset
//	two wishes for the same thing in one run                   TestTwoIntentsInOneRun
//	the same workflow ID again                                 TestScopeOverRunsOfOneWorkflowID
//	scope Workflow in a child whose ID a reset changes         TestWorkflowScopeInAChildWithAGeneratedID
//	a workflow task fails after a local activity               TestLocalActivityBehindAFailingWorkflowTask
//	run ID, time or random value in the input                  TestRunIDInsideTheInput
//	a layer issues its calls again from the top                TestALayerIssuesItsCallsAgain (scope Call: documented limit)
//
// # An operator interfered
//
//	activity paused and unpaused, or reset                     TestActivityPausedOrResetByAnOperator
//	timeouts, retries, task queue changed between attempts     TestOptionsOfALiveActivityAreChanged
//	a workflow is reset to get past a failure                  TestDeclinedThenFixedThenReset
//
// # Two asked for the same
//
//	two agents at the same instant, reworded                   TestTwoWorkflowsOfATenantAtTheSameInstant
//	order IDs that differ in the 19th digit                    TestTwoWorkflowsOfATenantAtTheSameInstant
//	delivered twice, to two workers                            TestDuplicateDelivery
//	200 at once, four connections                              TestRaceOfActivities, TestRaceOfWorkers
//	overlapping invoices in several children                   TestBillingFanOutThroughChildren
//	one key with two amounts, later or at once                 TestOneActionIDWithTwoAmounts; interceptor TestCases_OneActionIDWithTwoAmountsAtOnce
//	a duplicate is told success before there is one            interceptor TestCases_ADuplicateIsNotToldSuccessBeforeThereIsOne
//	claims race in the database, or find an open transaction   store/storetest; store/postgres
//	what decides is not in the arguments                       interceptor TestCases_WhatDecidesIsNotInTheArguments
//
// # A model asked
//
//	tool call IDs are new each time                            interceptor TestCases_ToolCallIDsAreNewEachTime, TestMultiplexer
//	nine equal tool calls in one message                       interceptor TestCases_OneModelMessageWithNineEqualToolCalls
//	approved once, the amount changed later                    interceptor TestCases_ApprovedOnceAndTheAmountChangedLater
//	a timestamp tells two intents apart                        interceptor TestCases_ATimestampTellsTwoIntentsApart
//	free text is reworded                                      TestTwoWorkflowsOfATenantAtTheSameInstant
//	a whole agent is retried, and says something else          interceptor TestCases_AWholeAgentRetryWithOtherArguments (documented limit)
//	a wrong code blocks the right one                          interceptor TestCases_AWrongCodeDoesNotBlockTheRightOne
//
// # The input
//
//	it has no canonical form                                   TestInputThatCannotBeCanonicalised
//	large integers, order of members, spaces, escapes          canon; interceptor TestPayload
//	protobuf JSON that differs from build to build             interceptor TestPayload_MessagesAreOneWhateverTheSpacing
//	RawValue arguments                                         interceptor TestPayload_RawValues
//	a struct changed between attempts or runs                  interceptor TestDrift, TestCases_AStructGainsAField
//	ten megabytes of it                                        interceptor TestCases_BigArguments
//	the key is only delivered, and nobody enforces it          interceptor TestCases_TheBodySeesItsKey
//
// # The result
//
//	replayed bytes differ, are encoded twice, or leak          TestReplayIsVerbatim
//	RawValue and protobuf results                              TestReplayIsVerbatim
//	a codec that is bound to the workflow                      TestReplayIsVerbatim/BoundToTheWorkflowByID
//	the codec gets a new key                                   TestKeyOfTheCodecIsRotated
//	it cannot be encoded, or Temporal refuses its size         TestResultThatCannotBeHandedOut
//	external storage changes what it is handed                 TestLargeResultInExternalStorage
//	a final failure loses its type or details                  TestFinalFailureIsReplayed
//	a final failure shows what is secret                       TestFinalFailureIsEncrypted
//	a wrapped error loses its non-retryable flag               TestDeclinedThenFixedThenReset
//	its retention is over                                      interceptor TestRetention
//
// # Work that others finish
//
//	ErrResultPending is completed by an outside system         TestPendingActionIsCompletedByTheOutsideSystem
//	a retry after the hand-over                                TestPendingActionIsNotHandedOverAgainByARetry
//	crash between the record and the task's completion         TestPendingActionWhoseTaskWasNeverCompletedIsReplayed
//
// # Something is missing or broken
//
//	store down before the effect                               TestStoreDownAtTheClaim
//	store down after the effect                                TestStoreDownAtTheRecord
//	store down for several leases under 200 running bodies     TestStoreOutageUnderManyRunningBodies
//	a record that cannot be read                               TestCorruptRecord
//	no header: the workflow's worker is not instrumented       TestActivityScheduledWithoutAHeader
//	a header of a newer version, or garbage                    TestHeaderOfANewerVersionOrGarbage
//	roll-out and roll-back with open workflows                 TestHistoriesReplayWithAndWithoutTheInterceptor
//	no tenant                                                  TestTenantIsMissing
//
// # Kinds of activities, and wiring
//
//	sessions                                                   TestSession
//	dynamic activities                                         TestDynamicActivity
//	methods of a struct, renamed activities                    TestStructMethodsAndARenamedActivity
//	eager dispatch                                             TestEagerDispatch
//	standalone: the same ID again, another ID, another input   TestServer132_StandaloneActivityIsKnownByItsID, …WithAnotherInput
//	standalone: asked for twice at a time                      TestServer132_StandaloneActivityIsAskedForTwice
//	standalone: lost answers, a killed worker, time is over    TestServer132_StandaloneActivityIsRetried, …WhoseWorkerIsKilled, …WhoseTimeIsOver
//	standalone: a workflow asks for the same                   TestServer132_StandaloneActivityAndWorkflowAskForTheSame
//	standalone: no tenant or agent where the scope needs one   TestServer132_StandaloneActivityWithoutATenant
//	standalone: an outside system reports on an ID used again  TestServer132_StandaloneActivityIsCompletedByTheOutsideSystem
//	standalone activities in the test environment              interceptor TestCases_StandaloneActivity
//	installed twice: client and worker                         interceptor TestNested
//	local activities in the test environment                   interceptor TestLocalActivity
//	function mocks, value mocks                                interceptor TestCases_FunctionMock, TestValueMock
//	timeouts in the test environment are not retried           none there: what needs a retry after one is tested here
//
// # The server is another one
//
//	1.32.1 ends, refuses and resets in other places            TestServer132
//
// The tests need a Temporal server and PostgreSQL; see internal/services. Activities
// without a workflow need server 1.32.1, which the command line program does not carry:
// internal/server132 is a program of its own.
package testsuite
