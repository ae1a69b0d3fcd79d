// Renders and checks a chart with Helm's own packages, see t/kube/helm-template. All but about
// forty of the packages that it is made of are kubectl's; the whole command needs two hundred more.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/strvals"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

const notesFile = "NOTES.txt"

type texts []string

func (t *texts) String() string         { return strings.Join(*t, ",") }
func (t *texts) Set(value string) error { *t = append(*t, value); return nil }

// What is to be rendered, as the options of `helm template` say it.
type request struct {
	release, namespace, kubeVersion string
	files, sets                     texts
}

func main() {
	var r request
	flag.StringVar(&r.release, "release", "fluxq", "the release's name")
	flag.StringVar(&r.namespace, "namespace", "default", "its namespace")
	flag.StringVar(&r.kubeVersion, "kube-version", "v1.35.0", "the cluster's version")
	flag.Var(&r.files, "values", "a file of values (may be repeated, the last one wins)")
	flag.Var(&r.sets, "set", "KEY=VALUE,... (may be repeated)")
	doLint := flag.Bool("lint", false, "check the chart, and show nothing of it")
	notes := flag.Bool("notes", false, "show the notes for the user")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "helm-template: one chart is wanted (see --help)")
		os.Exit(2)
	}
	if err := run(r, flag.Arg(0), *doLint, *notes); err != nil {
		fmt.Fprintln(os.Stderr, "helm-template:", err)
		os.Exit(1)
	}
}

func run(r request, dir string, doLint, notes bool) error {
	values, err := r.values()
	if err != nil {
		return err
	}
	if doLint {
		if err := check(dir, values, r.namespace); err != nil {
			return err
		}
	}
	c, err := loader.Load(dir)
	if err != nil {
		return err
	}
	rendered, err := r.render(c, values)
	if err != nil {
		return err
	}
	notesPath := c.Name() + "/templates/" + notesFile
	if notes {
		fmt.Print(rendered[notesPath])
		return nil
	}
	delete(rendered, notesPath)
	manifests, err := sorted(rendered)
	if err != nil {
		return err
	}
	if doLint {
		return checkFields(manifests)
	}
	for _, m := range manifests {
		fmt.Printf("---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	return nil
}

// The user's values: files first, then what --set says.
func (r request) values() (map[string]interface{}, error) {
	all := map[string]interface{}{}
	for _, name := range r.files {
		values, err := chartutil.ReadValuesFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = chartutil.MergeTables(values, all)
	}
	for _, set := range r.sets {
		if err := strvals.ParseInto(set, all); err != nil {
			return nil, fmt.Errorf("--set %s: %w", set, err)
		}
	}
	return all, nil
}

// Text by template, as an installation would make it. Values that the chart's schema refuses are an error.
func (r request) render(c *chart.Chart, values map[string]interface{}) (map[string]string, error) {
	version, err := chartutil.ParseKubeVersion(r.kubeVersion)
	if err != nil {
		return nil, err
	}
	if want := c.Metadata.KubeVersion; want != "" && !chartutil.IsCompatibleRange(want, version.String()) {
		return nil, fmt.Errorf("the chart wants Kubernetes %s, this is %s", want, version)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	options := chartutil.ReleaseOptions{Name: r.release, Namespace: r.namespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// The objects in the order in which Helm makes them.
func sorted(rendered map[string]string) ([]releaseutil.Manifest, error) {
	hooks, manifests, err := releaseutil.SortManifests(rendered, nil, releaseutil.InstallOrder)
	if err == nil && len(hooks) > 0 {
		err = fmt.Errorf("%s is a hook, which is not shown here", hooks[0].Path)
	}
	return manifests, err
}

// Says what Helm's linter has to say; from a warning on it is an error.
func check(dir string, values map[string]interface{}, namespace string) error {
	linter := lint.All(dir, values, namespace, true)
	for _, message := range linter.Messages {
		fmt.Println(message)
	}
	if linter.HighestSeverity >= support.WarningSev {
		return fmt.Errorf("%s has faults", dir)
	}
	return nil
}

// Helm's linter knows no fields of Kubernetes' objects: unknown ones and those that are there twice are an error.
func checkFields(manifests []releaseutil.Manifest) error {
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for _, m := range manifests {
		if _, _, err := decoder.Decode([]byte(m.Content), nil, nil); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	return nil
}
