package testsuite_test

const processEnv = "EFFECTONCE_TESTSUITE_PROCESS"

func processMain(string) {}
