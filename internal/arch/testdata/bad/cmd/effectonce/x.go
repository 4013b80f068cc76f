package main

import (
	_ "github.com/effectonce/effectonce/interceptor"
)
