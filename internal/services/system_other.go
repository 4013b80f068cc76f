//go:build !unix

package services

import (
	"os"

	"github.com/effectonce/effectonce/internal/process"
)

func postgresUser() (*process.Credential, error) { return nil, nil }

func lockFile(path string) (*os.File, error) { return os.Create(path) }

func abandoned(string) bool { return false }
