package services

// Processes returns the process ids of the servers this test binary started.
func Processes() []int {
	var pids []int
	if s := postgres.server; s != nil && s.child != nil {
		pids = append(pids, s.child.PID())
	}
	if s := redis.server; s != nil && s.child != nil {
		pids = append(pids, s.child.PID())
	}
	for _, s := range []*temporalServer{temporal.server, temporal132.server} {
		if s != nil && s.private != nil {
			pids = append(pids, s.private.PID())
		}
	}
	return pids
}

// Folders returns the folders of the servers this test binary started.
func Folders() []string {
	var paths []string
	if s := postgres.server; s != nil && s.folder != nil {
		paths = append(paths, s.folder.path)
	}
	if s := redis.server; s != nil && s.folder != nil {
		paths = append(paths, s.folder.path)
	}
	return paths
}

var RemoveAbandoned = removeAbandoned
