package temporalcli

var (
	CheckVersion = checkVersion
	BuildModule  = build
)
