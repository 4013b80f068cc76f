package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/effectonce/effectonce/internal/demo"
)

func demoCommand() *cobra.Command {
	var o demo.Options
	command := &cobra.Command{
		Use:   "demo",
		Short: "Show what effectonce does, with everything started for you",
		Long: "Runs nine scenarios without effectonce and with it, and prints how many effects there were.\n" +
			"It starts a Temporal server, a provider and workers on free ports, in a temporary folder, and\n" +
			"removes all of it. The Temporal program is built first if this machine has none.",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			o.Out, o.Progress = command.OutOrStdout(), command.ErrOrStderr()
			o.Self = []string{program, "demo", "part"}
			return demo.Run(command.Context(), o)
		},
	}
	command.Flags().BoolVar(&o.Keep, "keep", false, "leave everything running afterwards, until Ctrl-C")
	command.Flags().StringSliceVar(&o.Only, "only", nil, "run only these `rows`, such as a,b,d")
	command.AddCommand(&cobra.Command{
		Use:    "part SPEC",
		Short:  "Play one part of the demo; the demo runs this by itself",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return demo.Part(command.Context(), args[0], askProvider)
		},
	})
	return command
}
