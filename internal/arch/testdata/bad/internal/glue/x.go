package glue

import (
	_ "github.com/effectonce/effectonce/interceptor"
	_ "net/http/httptest"
)
